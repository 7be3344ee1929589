"""Pictures of every form come as upright RGB; what is no whole picture is named."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.data.pictures.reading import read_picture
from regard.data.pictures.sizing import Fit, sized
from regard.errors import DataError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def pixels() -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def saved(picture: Any, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF", "PPM"])
def test_a_picture_that_is_kept_exactly_comes_back_exactly(form: str, pixels: NDArray[np.uint8]) -> None:
    assert np.array_equal(read_picture(saved(Image.fromarray(pixels), form)), pixels)


@pytest.mark.parametrize(("form", "options"), [("WEBP", {"lossless": True}), ("GIF", {}), ("JPEG", {"quality": 95})])
def test_other_forms_come_nearly(form: str, options: dict[str, Any]) -> None:
    smooth = np.stack([*np.meshgrid(np.arange(60), np.arange(40)), np.full((40, 60), 90)], -1).astype(np.uint8)
    found = read_picture(saved(Image.fromarray(smooth), form, **options))
    assert np.abs(found.astype(int) - smooth).mean() < 4


def test_grey_stays_grey_and_one_bit_is_black_and_white(pixels: NDArray[np.uint8]) -> None:
    grey = read_picture(saved(Image.fromarray(pixels).convert("L"), "PNG"))
    assert np.array_equal(grey[..., 0], grey[..., 2])
    assert set(np.unique(read_picture(saved(Image.fromarray(pixels).convert("1"), "PNG")))) == {0, 255}


def test_what_is_transparent_stands_on_white(pixels: NDArray[np.uint8]) -> None:
    alpha = np.zeros((40, 60), np.uint8)
    alpha[:20] = 255
    found = read_picture(saved(Image.fromarray(np.dstack([pixels, alpha])), "PNG"))
    assert np.array_equal(found[:20], pixels[:20])
    assert (found[20:] == 255).all()
    few = Image.fromarray(np.zeros((4, 4), np.uint8)).convert("P")
    few.info["transparency"] = 0
    assert (read_picture(saved(few, "PNG", transparency=0)) == 255).all()


def test_sixteen_bits_lose_their_lower_eight() -> None:
    grey = np.random.default_rng(1).integers(0, 1 << 16, (7, 9)).astype(np.uint16)
    assert np.array_equal(read_picture(saved(Image.fromarray(grey), "PNG"))[..., 1], grey // 257)


def test_floating_point_from_0_to_1_fills_the_range() -> None:
    grey = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(read_picture(saved(Image.fromarray(grey), "TIFF"))[..., 0], (grey * 255).astype(np.uint8))


def test_cmyk_is_read_as_people_see_it() -> None:
    red = Image.new("RGB", (16, 16), (220, 30, 30)).convert("CMYK")
    found = read_picture(saved(red, "JPEG", quality=95)).mean((0, 1))
    assert np.abs(found - (220, 30, 30)).max() < 12


def test_a_photograph_is_turned_as_its_camera_was(pixels: NDArray[np.uint8]) -> None:
    exif = Image.Exif()
    exif[0x112] = 6  # turned to the right
    found = read_picture(saved(Image.fromarray(pixels), "PNG", exif=exif))
    assert np.array_equal(found, np.rot90(pixels, -1))


def test_of_an_animation_the_first_frame_is_read() -> None:
    first, second = (Image.new("RGB", (5, 5), colour) for colour in ("black", "white"))
    assert read_picture(saved(first, "GIF", save_all=True, append_images=[second])).max() == 0


def test_a_large_jpeg_is_decoded_smaller_but_never_too_small(pixels: NDArray[np.uint8]) -> None:
    large = saved(Image.fromarray(pixels).resize((1600, 1200)), "JPEG")
    height, width = read_picture(large, least=224).shape[:2]
    assert 224 <= height < 1200
    assert (height, width) == (300, 400)
    assert read_picture(large).shape == (1200, 1600, 3)


def test_half_a_picture_is_named(pixels: NDArray[np.uint8], tmp_path: Path) -> None:
    for form in ("JPEG", "PNG", "WEBP"):
        whole = saved(Image.fromarray(pixels), form)
        path = tmp_path / f"half.{form.lower()}"
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=rf"half\.{form.lower()} is (damaged|no picture)"):
            read_picture(path)


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    text = tmp_path / "letter.jpg"
    text.write_text("Dear all,")
    with pytest.raises(DataError, match=r"letter\.jpg is no picture that can be read"):
        read_picture(text)
    with pytest.raises(DataError, match=r"gone\.jpg is empty"):
        read_picture(b"", "gone.jpg")
    with pytest.raises(ValueError, match=r"nowhere\.png does not exist"):
        read_picture(tmp_path / "nowhere.png")


@pytest.mark.parametrize("side", [12_000, 30_000])
def test_a_picture_with_too_many_pixels_is_refused_before_it_is_decoded(side: int) -> None:
    small_file = saved(Image.new("1", (side, side)), "PNG")
    assert len(small_file) < 200_000
    with pytest.raises(DataError, match="at most 100,000,000 are read"):
        read_picture(small_file)


@pytest.mark.parametrize("fit", ["crop", "pad", "stretch"])
@pytest.mark.parametrize("shape", [(40, 60), (1, 1), (3, 500)])
def test_any_picture_comes_to_any_size(fit: Fit, shape: tuple[int, int]) -> None:
    picture = np.full((*shape, 3), 77, np.uint8)
    assert sized(picture, 24, 32, fit).shape == (24, 32, 3)


def test_crop_takes_the_middle_and_pad_takes_all() -> None:
    picture = np.zeros((20, 60, 3), np.uint8)
    picture[:, 20:40] = 200
    assert (sized(picture, 20, 20, "crop") == 200).all()
    padded = sized(picture, 30, 30, "pad")
    assert (padded[:10] == 128).all()
    assert (padded[20:] == 128).all()
    assert padded[15, 15, 0] > 150
    assert padded[15, 3, 0] < 20


def test_stretching_keeps_the_mean() -> None:
    picture = np.random.default_rng(2).integers(0, 256, (64, 48, 3), dtype=np.uint8)
    assert abs(sized(picture, 16, 16, "stretch").mean() - picture.mean()) < 2
