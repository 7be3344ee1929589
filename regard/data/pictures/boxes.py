"""Boxes in pictures that are brought to another size, or changed at random."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.data.pictures.augment import Augment, Random
from regard.data.pictures.examples import BoxedPicture
from regard.data.pictures.reading import Pixels
from regard.data.pictures.sizing import inside
from regard.errors import DataError

Whole = Literal["pad", "stretch"]  # how all of a picture is brought to a size
Boxes = NDArray[np.float32]  # (n, 4): left, top, right, bottom

BEYOND_PIXELS = 1.0  # that a box may reach over the edge: people count pixels from 0 or from 1, and round
BYTES_A_BOX = 20  # a class and four sides, in single precision
LEAST_LEFT = 0.3  # of a box's area must still be in a picture that was cropped


def boxes_in(example: BoxedPicture, shape: tuple[int, ...]) -> Boxes:
    """Those of a picture of this shape, clipped to it; one that reaches farther out is named with its place."""
    height, width = shape[:2]
    for number, (name, (left, top, right, bottom)) in enumerate(example.boxes):
        over = max(-left, -top, right - width, bottom - height)
        if over > BEYOND_PIXELS or left >= width or top >= height or right <= 0 or bottom <= 0:
            raise DataError(
                f"{example.place(number)}: the box of {name!r} from ({left:g}, {top:g}) to ({right:g}, {bottom:g}) "
                f"lies outside of {example.picture.name}, which is {width} × {height} pixels"
            )
    return clipped(np.array([box for _, box in example.boxes], np.float32).reshape(-1, 4), height, width)


def clipped(boxes: Boxes, height: int, width: int) -> Boxes:
    return boxes.clip(0, np.array([width, height, width, height], np.float32))


def around(shape: tuple[int, ...], side: int, fit: Whole) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """By how much boxes grow, and where the picture's corner comes to stand, as (4,) each."""
    height, width = shape[:2]
    high, wide = (side, side) if fit == "stretch" else inside(shape, side, side)
    scale, corner = (wide / width, high / height), ((side - wide) // 2, (side - high) // 2)
    return np.array(scale * 2, np.float32), np.array(corner * 2, np.float32)


def placed(boxes: Boxes, shape: tuple[int, ...], side: int, fit: Whole) -> Boxes:
    """Boxes of a picture of this shape, where it is `side` pixels a side."""
    scale, corner = around(shape, side, fit)
    return boxes * scale + corner


def put_back(boxes: Boxes, shape: tuple[int, ...], side: int, fit: Whole) -> Boxes:
    """The opposite, within the picture."""
    scale, corner = around(shape, side, fit)
    return clipped((boxes - corner) / scale, *shape[:2])


def augmented(
    pixels: Pixels, classes: NDArray[Any], boxes: Boxes, augment: Augment, random: Random
) -> tuple[Pixels, NDArray[Any], Boxes]:
    """A picture changed at random, with the things that are still in it."""
    pixels, move = augment.moved(pixels, random)
    whole = move.boxes(boxes)
    seen = clipped(whole, *pixels.shape[:2])
    left = (seen[:, 2:] - seen[:, :2]).prod(1) > LEAST_LEFT * (whole[:, 2:] - whole[:, :2]).prod(1)
    return pixels, classes[left], seen[left]


def as_bytes(classes: NDArray[Any], boxes: Boxes) -> NDArray[np.uint8]:
    """As a store of bytes keeps them."""
    return np.frombuffer(np.column_stack([classes, boxes]).astype("<f4").tobytes(), np.uint8)


def from_bytes(row: NDArray[Any]) -> tuple[NDArray[np.int64], Boxes]:
    """Classes (n,) and boxes (n, 4)."""
    found = np.frombuffer(np.asarray(row, np.uint8).tobytes(), "<f4").reshape(-1, 5)
    return found[:, 0].astype(np.int64), found[:, 1:]
