"""Pictures changed at random while a model learns from them, so that it learns what does not matter.

What is drawn follows from a seed alone, so that a resumed training sees the same pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.config import Config, ConfigError, Count, Rate
from regard.data.pictures.reading import Pixels, pillow
from regard.data.pictures.sizing import GREY, resampled

Crop = Literal["none", "shift", "zoom"]
Random = np.random.Generator

SHIFT = 1 / 8  # of a side, the most by which a picture is shifted
ASPECTS = (3 / 4, 4 / 3)  # of the part that is zoomed into, before it is stretched
ZOOM_TRIES = 10
HIGHEST = 30  # the magnitude at which a change is as strong as it comes
ERASED = (0.02, 0.33)  # shares of a picture that are erased


@dataclass(frozen=True)
class Augment(Config):
    """How a picture is changed: each is mirrored with the chance `flip`, and shifted by up to an eighth or zoomed into
    a part with at least the share `least` of its area (`crop`). `colour` is how far light, contrast and colours may be
    off. Of fourteen kinds of changes `changes` are drawn, of a `magnitude` from 0 to 30: RandAugment, Cubuk et al.
    2020, arXiv:1909.13719. With the chance `erase` a rectangle is filled with noise: Zhong et al. 2020,
    arXiv:1708.04896.
    """

    flip: Rate = 0.5
    crop: Crop = "none"
    least: Rate = 0.35
    colour: Rate = 0.0
    changes: Count = 0
    magnitude: Count = 9
    erase: Rate = 0.0

    def check(self) -> None:
        if self.magnitude > HIGHEST:
            raise ConfigError(f"magnitude {self.magnitude}: changes are strongest at {HIGHEST}")
        if self.crop == "zoom" and self.least == 0:
            raise ConfigError("least: a part of a picture has some share of its area; it takes more than 0")

    def __call__(self, pixels: Pixels, random: Random) -> Pixels:
        """A picture of the same size."""
        return self.moved(pixels, random)[0]

    def moved(self, pixels: Pixels, random: Random) -> tuple[Pixels, Move]:
        """A picture of the same size, and where its points went, as far as `changes` leave them where they are."""
        width, move = pixels.shape[1], Move()
        if random.random() < self.flip:
            pixels, move = pixels[:, ::-1], Move((-1.0, 1.0), (float(width), 0.0))
        if self.crop == "shift":
            down, right = drawn_shift(pixels.shape, random)
            pixels, move = shifted(pixels, down, right), move.then((1.0, 1.0), (right, down))
        elif self.crop == "zoom":
            top, left, high, wide = drawn_part(pixels.shape, self.least, random)
            across, along = width / wide, pixels.shape[0] / high
            pixels = zoomed(pixels, top, left, high, wide)
            move = move.then((across, along), (-left * across, -top * along))
        if self.colour:
            pixels = recoloured(pixels, self.colour, random)
        if self.changes:
            pixels = changed(pixels, self.changes, self.magnitude / HIGHEST, random)
        if self.erase and random.random() < self.erase:
            pixels = erased(pixels, random)
        return np.ascontiguousarray(pixels), move


@dataclass(frozen=True)
class Move:
    """Where a point (x, y) of a picture goes: times `scale`, plus `shift`."""

    scale: tuple[float, float] = (1.0, 1.0)
    shift: tuple[float, float] = (0.0, 0.0)

    def then(self, scale: tuple[float, float], shift: tuple[float, float]) -> Move:
        (x, y), (right, down) = self.scale, self.shift
        return Move((x * scale[0], y * scale[1]), (right * scale[0] + shift[0], down * scale[1] + shift[1]))

    def boxes(self, boxes: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, 4): left, top, right, bottom."""
        ends = boxes.reshape(-1, 2, 2) * np.array(self.scale, np.float32) + np.array(self.shift, np.float32)
        return np.concatenate([ends.min(1), ends.max(1)], 1)


def drawn_shift(shape: tuple[int, ...], random: Random) -> tuple[int, int]:
    """By how much down and to the right: up to an eighth of a side."""
    down, right = (int(random.integers(-int(side * SHIFT), int(side * SHIFT) + 1)) for side in shape[:2])
    return down, right


def shifted(pixels: Pixels, down: int, right: int) -> Pixels:
    """Behind it is grey."""
    height, width = pixels.shape[:2]
    moved = np.full_like(pixels, GREY)
    moved[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)] = pixels[
        max(-down, 0) : height + min(-down, 0), max(-right, 0) : width + min(-right, 0)
    ]
    return moved


def drawn_part(shape: tuple[int, ...], least: float, random: Random) -> tuple[int, int, int, int]:
    """Top, left, height and width of a part of a picture. Szegedy et al. 2015, arXiv:1409.4842."""
    height, width = shape[:2]
    for _ in range(ZOOM_TRIES):
        area = height * width * random.uniform(least, 1)
        aspect = np.exp(random.uniform(*np.log(ASPECTS)))
        high, wide = round((area / aspect) ** 0.5), round((area * aspect) ** 0.5)
        if 0 < high <= height and 0 < wide <= width:
            top, left = int(random.integers(height - high + 1)), int(random.integers(width - wide + 1))
            return top, left, high, wide
    return 0, 0, height, width


def zoomed(pixels: Pixels, top: int, left: int, high: int, wide: int) -> Pixels:
    """A part of the picture, stretched to all of it."""
    return resampled(np.ascontiguousarray(pixels[top : top + high, left : left + wide]), *pixels.shape[:2])


def recoloured(pixels: Pixels, most: float, random: Random) -> Pixels:
    """Light, contrast and colour, in this order, each times a number near 1."""
    light, contrast, colour = random.uniform(1 - most, 1 + most, 3)
    found = pixels.astype(np.float32) * light
    found = (found - found.mean()) * contrast + found.mean()
    grey = found.mean(-1, keepdims=True)
    changed: Pixels = np.rint(((found - grey) * colour + grey).clip(0, 255)).astype(np.uint8)
    return changed


def erased(pixels: Pixels, random: Random) -> Pixels:
    height, width = pixels.shape[:2]
    area = height * width * random.uniform(*ERASED)
    aspect = np.exp(random.uniform(*np.log((0.3, 3.3))))
    high, wide = min(max(round((area * aspect) ** 0.5), 1), height), min(max(round((area / aspect) ** 0.5), 1), width)
    top, left = int(random.integers(height - high + 1)), int(random.integers(width - wide + 1))
    found = pixels.copy()
    found[top : top + high, left : left + wide] = random.integers(0, 256, (high, wide, 3), dtype=np.uint8)
    return found


# --- RandAugment ------------------------------------------------------------------------------------------------------

Change = Callable[[Any, float], Any]  # a picture of Pillow's and a strength from -1 to 1
GREY_BEHIND = (GREY, GREY, GREY)
SHEAR, MOVE, TURN, ENHANCE = 0.3, 0.45, 30.0, 0.9  # at full strength: of a side, of a side, degrees, off from 1
BITS = 4  # of eight, that are lost at full strength


def affine(picture: Any, *numbers: float) -> Any:
    image = pillow()
    return picture.transform(
        picture.size, image.Transform.AFFINE, numbers, image.Resampling.BILINEAR, fillcolor=GREY_BEHIND
    )


def enhanced(name: str) -> Change:
    return lambda picture, by: getattr(pillow("ImageEnhance"), name)(picture).enhance(1 + ENHANCE * by)


CHANGES: tuple[Change, ...] = (
    lambda picture, by: picture,
    lambda picture, by: pillow("ImageOps").autocontrast(picture),
    lambda picture, by: pillow("ImageOps").equalize(picture),
    lambda picture, by: pillow("ImageOps").solarize(picture, round(256 * (1 - abs(by)))),
    lambda picture, by: pillow("ImageOps").posterize(picture, 8 - round(BITS * abs(by))),
    lambda picture, by: picture.rotate(TURN * by, pillow().Resampling.BILINEAR, fillcolor=GREY_BEHIND),
    lambda picture, by: affine(picture, 1, SHEAR * by, 0, 0, 1, 0),
    lambda picture, by: affine(picture, 1, 0, 0, SHEAR * by, 1, 0),
    lambda picture, by: affine(picture, 1, 0, MOVE * by * picture.size[0], 0, 1, 0),
    lambda picture, by: affine(picture, 1, 0, 0, 0, 1, MOVE * by * picture.size[1]),
    enhanced("Color"),
    enhanced("Contrast"),
    enhanced("Brightness"),
    enhanced("Sharpness"),
)


def changed(pixels: Pixels, count: int, strength: float, random: Random) -> Pixels:
    """By so many changes, one after the other, each in either direction."""
    picture = pillow().fromarray(np.ascontiguousarray(pixels))
    for number in random.integers(len(CHANGES), size=count):
        picture = CHANGES[number](picture, strength if random.random() < 0.5 else -strength)
    return np.asarray(picture, dtype=np.uint8)
