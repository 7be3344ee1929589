"""Boxes follow their pictures to another size and through every change; boxes that are none are named."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.data.pictures.augment import Augment
from regard.data.pictures.boxes import as_bytes, augmented, boxes_in, from_bytes, placed, put_back
from regard.data.pictures.examples import Box, BoxedPicture, MadePicture
from regard.data.pictures.sizing import sized
from regard.errors import DataError

pytest.importorskip("PIL")

HEIGHT, WIDTH = 60, 90


def drawn(*boxes: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """White rectangles on black."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = 255
    return pixels


def seen(pixels: NDArray[np.uint8]) -> list[int]:
    """The box around what is white."""
    rows, columns = np.nonzero(pixels[..., 0] > 190)
    return [int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1]


@pytest.mark.parametrize("fit", ["pad", "stretch"])
def test_boxes_stand_around_the_same_things_in_any_size(fit: str) -> None:
    box = (10, 20, 50, 40)
    pixels = sized(drawn(box), 48, 48, fit)  # type: ignore[arg-type]
    boxes = placed(np.float32([box]), (HEIGHT, WIDTH, 3), 48, fit)  # type: ignore[arg-type]
    assert boxes[0] == pytest.approx(seen(pixels), abs=1)
    back = put_back(boxes, (HEIGHT, WIDTH, 3), 48, fit)  # type: ignore[arg-type]
    assert back[0] == pytest.approx(box, abs=1e-3)


@pytest.mark.parametrize("augment", [Augment(flip=0.5), Augment(crop="shift"), Augment(crop="zoom", least=0.5)])
def test_boxes_follow_every_change(augment: Augment) -> None:
    box = np.float32([[30, 20, 60, 40]])
    for seed in range(20):
        pixels, classes, boxes = augmented(
            drawn((30, 20, 60, 40)), np.array([4]), box, augment, np.random.default_rng(seed)
        )
        assert classes.tolist() == [4]
        assert boxes[0] == pytest.approx(seen(pixels), abs=1.5)


def test_things_that_are_hardly_left_are_gone() -> None:
    corners = np.float32([[0, 0, 8, 8], [82, 0, 90, 8], [0, 52, 8, 60], [82, 52, 90, 60], [40, 25, 50, 35]])
    counts = set()
    for seed in range(20):
        _, classes, boxes = augmented(drawn(), np.arange(5), corners, Augment(crop="zoom"), np.random.default_rng(seed))
        assert len(classes) == len(boxes)
        assert (boxes[:, :2] >= 0).all()
        assert (boxes[:, 2:] <= [WIDTH, HEIGHT]).all()
        assert (boxes[:, 2:] > boxes[:, :2]).all()
        counts.add(len(classes))
    assert len(counts) > 1


def test_a_store_of_bytes_keeps_boxes_exactly() -> None:
    classes, boxes = np.array([300, 0, 7]), np.random.default_rng(0).uniform(0, 640, (3, 4)).astype(np.float32)
    row = as_bytes(classes, boxes)
    assert row.dtype == np.uint8
    found, places = from_bytes(row)
    assert found.tolist() == [300, 0, 7]
    assert np.array_equal(places, boxes)
    assert len(from_bytes(as_bytes(np.array([]), np.zeros((0, 4), np.float32)))[0]) == 0


def example(*boxes: Box) -> BoxedPicture:
    picture = MadePicture("street.jpg", drawn)
    return BoxedPicture(picture, tuple(("cat", box) for box in boxes), "b.tsv", ("b.tsv, line 2", "b.tsv, line 3"))


def test_a_box_that_lies_outside_is_named_with_its_line() -> None:
    good = (0.0, 0.0, 10.0, 10.0)
    for wrong in ((80.0, 0.0, 95.0, 10.0), (-4.0, 0.0, 5.0, 5.0), (95.0, 10.0, 99.0, 20.0), (0.0, 61.0, 5.0, 61.5)):
        with pytest.raises(DataError, match=r"b.tsv, line 3: the box of 'cat' .* outside of street.jpg, .*90 × 60"):
            boxes_in(example(good, wrong), (HEIGHT, WIDTH, 3))
    rounded = boxes_in(example((-0.5, 0.0, 90.4, 61.0)), (HEIGHT, WIDTH, 3))
    assert rounded.tolist() == [[0, 0, 90, 60]]
