"""Augmented pictures keep their size, follow their seed, and change as they are asked to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.config import ConfigError
from regard.data.pictures.augment import CHANGES, Augment, drawn_part, drawn_shift, erased, shifted, zoomed

pytest.importorskip("PIL")


@pytest.fixture
def pixels() -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (32, 24, 3), dtype=np.uint8)


ALL = Augment(crop="zoom", colour=0.3, changes=3, magnitude=15, erase=0.5)


def test_nothing_changes_where_nothing_is_asked_for(pixels: NDArray[np.uint8]) -> None:
    assert np.array_equal(Augment(flip=0)(pixels, np.random.default_rng(0)), pixels)


def test_a_seed_decides_all(pixels: NDArray[np.uint8]) -> None:
    first, again, other = (ALL(pixels, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_sizes_stay_and_the_given_picture_is_left_alone(pixels: NDArray[np.uint8]) -> None:
    before = pixels.copy()
    for seed in range(60):
        found = ALL(pixels, np.random.default_rng(seed))
        assert found.shape == pixels.shape
        assert found.dtype == np.uint8
    assert np.array_equal(pixels, before)


def test_half_of_the_pictures_are_mirrored(pixels: NDArray[np.uint8]) -> None:
    flips = [np.array_equal(Augment()(pixels, np.random.default_rng(s)), pixels[:, ::-1]) for s in range(200)]
    assert 70 < sum(flips) < 130


def test_shifting_keeps_what_stays_inside(pixels: NDArray[np.uint8]) -> None:
    seen = set()
    for seed in range(40):
        found = shifted(pixels, *drawn_shift(pixels.shape, np.random.default_rng(seed)))
        places = [
            (down, right)
            for down in range(-4, 5)
            for right in range(-3, 4)
            if np.array_equal(found[8:24, 8:16], pixels[8 - down : 24 - down, 8 - right : 16 - right])
        ]
        assert len(places) == 1
        seen.add(places[0])
    assert len(seen) > 15


def test_zooming_shows_a_part() -> None:
    ramp = np.tile(np.arange(64, dtype=np.uint8)[None, :, None] * 4, (64, 1, 3))
    spans = []
    for seed in range(50):
        found = zoomed(ramp, *drawn_part(ramp.shape, 0.25, np.random.default_rng(seed))).astype(int)
        spans.append(found[..., 0].max() - found[..., 0].min())
    assert min(spans) < 160
    assert max(spans) > 220


def test_erasing_leaves_most(pixels: NDArray[np.uint8]) -> None:
    for seed in range(30):
        share = (erased(pixels, np.random.default_rng(seed)) != pixels).any(-1).mean()
        assert 0 < share < 0.45


@pytest.mark.parametrize("number", range(len(CHANGES)))
@pytest.mark.parametrize("by", [-1.0, 0.5, 1.0])
def test_every_change_gives_a_picture_of_the_same_size(number: int, by: float, pixels: NDArray[np.uint8]) -> None:
    from PIL import Image

    pixels = pixels // 2 + 40  # so that there is contrast to gain
    found = CHANGES[number](Image.fromarray(pixels), by)
    assert found.size == (24, 32)
    assert found.mode == "RGB"
    if number:
        assert not np.array_equal(np.asarray(found), pixels)


def test_a_magnitude_beyond_the_strongest_is_refused() -> None:
    with pytest.raises(ConfigError, match="strongest at 30"):
        Augment(magnitude=31)
    with pytest.raises(ConfigError, match="more than 0"):
        Augment(crop="zoom", least=0.0)
