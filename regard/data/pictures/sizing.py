"""Bringing a picture to the size that a model reads."""

from __future__ import annotations

from typing import Literal

import numpy as np

from regard.data.pictures.reading import Pixels, pillow

# crop: all that fits of its middle; pad: all of it, with grey beside it; stretch: all of it, in another shape
Fit = Literal["crop", "pad", "stretch"]
GREY = 128  # beside a picture that is padded: the middle of what a model sees


def sized(pixels: Pixels, height: int, width: int, fit: Fit = "crop") -> Pixels:
    """A picture at exactly this size, resampled without aliasing."""
    found = np.ascontiguousarray(pixels[part(pixels.shape, height, width)] if fit == "crop" else pixels)
    if fit != "pad":
        return resampled(found, height, width)
    inner_height, inner_width = inside(found.shape, height, width)
    top, left = (height - inner_height) // 2, (width - inner_width) // 2
    padded = np.full((height, width, 3), GREY, dtype=np.uint8)
    padded[top : top + inner_height, left : left + inner_width] = resampled(found, inner_height, inner_width)
    return padded


def part(shape: tuple[int, ...], height: int, width: int) -> tuple[slice, slice]:
    """The largest middle part of a picture that has the shape of another one."""
    own_height, own_width = shape[:2]
    share = min(own_height / height, own_width / width)
    high = min(max(round(height * share), 1), own_height)
    wide = min(max(round(width * share), 1), own_width)
    top, left = (own_height - high) // 2, (own_width - wide) // 2
    return slice(top, top + high), slice(left, left + wide)


def inside(shape: tuple[int, ...], height: int, width: int) -> tuple[int, int]:
    """The size at which the whole of a picture stands in another one."""
    own_height, own_width = shape[:2]
    share = min(height / own_height, width / own_width)
    return min(max(round(own_height * share), 1), height), min(max(round(own_width * share), 1), width)


def resampled(pixels: Pixels, height: int, width: int) -> Pixels:
    """A picture in another shape; each new pixel is a mean of all those that it covers."""
    if pixels.shape[:2] == (height, width):
        return pixels
    image = pillow()
    return np.asarray(image.fromarray(pixels).resize((width, height), image.Resampling.BICUBIC), dtype=np.uint8)
