"""What stands in a scene, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]  # x to the right and y down
Box = tuple[float, float, float, float]  # left, top, right, bottom

COLOURS = {
    "red": (214, 39, 40),
    "green": (44, 150, 60),
    "blue": (45, 85, 225),
    "yellow": (240, 208, 45),
    "purple": (145, 60, 190),
    "orange": (245, 130, 30),
}
SHAPES = ("circle", "square", "triangle", "cross", "star", "ring")
SIZES = {"small": (0.09, 0.12), "large": (0.17, 0.22)}  # the radius as a share of the picture's side
# Each colour and each shape is left out once, and occurs with all others.
RECOMBINED = frozenset(zip(COLOURS, SHAPES[3:] + SHAPES[:3], strict=True))

MOST_THINGS = 4
TRIES = 60  # to find a place for a thing; then the scene has one fewer
GAP = 0.03  # between things, and to the edge, as a share of the side
TURN = math.pi / 14  # the most by which a shape is turned
FINER = 4  # points a pixel, in each direction, of which its colour is the mean
HOLE = 0.55  # of a ring, as a share of its radius
SHADE, GRAIN = 14, 6  # how much a background's light changes over the picture, and from pixel to pixel
DARK, LIGHT = (20, 60), (195, 235)  # of backgrounds


@dataclass(frozen=True)
class Thing:
    """A shape at a place; centre and radius are shares of the picture's side."""

    shape: str
    colour: str
    size: str
    x: float
    y: float
    radius: float
    turn: float

    def outline(self) -> NDArray[np.float64]:
        """(points, 2): its corners; of what is round, points that lie close together."""
        corners = np.array(OUTLINES[self.shape]) * self.radius
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        found: NDArray[np.float64] = corners @ np.array([[cosine, sine], [-sine, cosine]]) + np.array((self.x, self.y))
        return found

    def box(self) -> Box:
        """In shares of the side."""
        outline = self.outline()
        (left, top), (right, bottom) = outline.min(0).tolist(), outline.max(0).tolist()
        return left, top, right, bottom

    def covers(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of the points lie on it."""
        found = within(self.outline(), x, y)
        if self.shape == "ring":
            found &= (x - self.x) ** 2 + (y - self.y) ** 2 > (HOLE * self.radius) ** 2
        return found


@dataclass(frozen=True)
class Scene:
    """Things before a background, whose `light` is that of its middle."""

    things: tuple[Thing, ...]
    light: tuple[int, int, int]
    slope: Point
    grain: int

    def pixels(self, side: int) -> NDArray[np.uint8]:
        """(side, side, 3)"""
        places = (np.arange(side) + 0.5) / side - 0.5
        shade = SHADE * (self.slope[0] * places[None, :] + self.slope[1] * places[:, None])
        raw = np.random.PCG64(self.grain).random_raw(-(-side * side // 8))  # the same in every version of numpy
        grain = np.frombuffer(raw.astype("<u8").tobytes(), np.uint8)[: side * side].reshape(side, side)
        shade = shade + (grain / 255 - 0.5) * GRAIN
        picture = np.array(self.light, dtype=np.float64) + shade[..., None]
        for thing in self.things:
            paint(picture, thing, side)
        found: NDArray[np.uint8] = np.rint(picture.clip(0, 255)).astype(np.uint8)
        return found

    def boxes(self, side: int) -> list[tuple[str, Box]]:
        """The shape and the box, in pixels, of each thing."""
        return [(thing.shape, scaled(thing.box(), side)) for thing in self.things]


def scaled(box: Box, side: int) -> Box:
    left, top, right, bottom = box
    return left * side, top * side, right * side, bottom * side


def scene(split: str, number: int) -> Scene:
    """The `number`th scene of a split."""
    random = Random(f"regard scenes {split} {number}")
    wanted = 1 + int(random.random() * MOST_THINGS)
    things: list[Thing] = []
    for place in range(wanted):
        new = split == "recombined" and place == 0
        thing = drawn(random, things, new)
        if thing is not None:
            things.append(thing)
    random.shuffle(things)
    low, high = DARK if random.random() < 0.5 else LIGHT
    red, green, blue = (round(low + random.random() * (high - low)) for _ in range(3))
    slope = (random.random() * 2 - 1, random.random() * 2 - 1)
    return Scene(tuple(things), (red, green, blue), slope, random.getrandbits(32))


def drawn(random: Random, others: Sequence[Thing], recombined: bool) -> Thing | None:
    """A thing where none of the others is; one of the combinations that are left out, or never one of them."""
    known = sorted((colour, shape) for colour in COLOURS for shape in SHAPES)
    colour, shape = random.choice([one for one in known if (one in RECOMBINED) == recombined])
    size = "small" if random.random() < 0.5 else "large"
    low, high = SIZES[size]
    for _ in range(TRIES):
        radius = low + random.random() * (high - low)
        edge = radius + GAP
        x, y = (edge + random.random() * (1 - 2 * edge) for _ in range(2))
        if all(math.hypot(x - other.x, y - other.y) > radius + other.radius + GAP for other in others):
            return Thing(shape, colour, size, x, y, radius, (random.random() * 2 - 1) * TURN)
    return None


def paint(picture: NDArray[np.float64], thing: Thing, side: int) -> None:
    """Draw a thing; a pixel that it covers in part takes its colour in part."""
    left, top, right, bottom = scaled(thing.box(), side)
    columns = slice(max(int(left), 0), min(int(right) + 1, side))
    rows = slice(max(int(top), 0), min(int(bottom) + 1, side))

    def points(pixels: slice) -> NDArray[np.float64]:
        return (np.arange(pixels.start * FINER, pixels.stop * FINER) + 0.5) / (side * FINER)

    covered = thing.covers(*np.meshgrid(points(columns), points(rows)))
    high, wide = rows.stop - rows.start, columns.stop - columns.start
    share = covered.reshape(high, FINER, wide, FINER).mean((1, 3))[..., None]
    picture[rows, columns] = picture[rows, columns] * (1 - share) + np.array(COLOURS[thing.colour]) * share


def within(outline: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points lie inside: a ray from them crosses the outline an odd number of times."""
    inside = np.zeros(x.shape, dtype=bool)
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if y0 != y1:
            inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


# --- the outlines of shapes, around the origin, within a circle of radius 1 -----------------------------------------


def around(count: int, radii: Sequence[float] = (1.0,), start: float = -math.pi / 2) -> list[Point]:
    """Points of a circle, or in turn of several, from the top on."""
    angles = [start + 2 * math.pi * i / count for i in range(count)]
    return [(radii[i % len(radii)] * math.cos(a), radii[i % len(radii)] * math.sin(a)) for i, a in enumerate(angles)]


ARM = 0.32  # half the width of a cross's bars
OUTLINES: dict[str, list[Point]] = {
    "circle": around(48),
    "ring": around(48),
    "square": around(4, start=-3 * math.pi / 4),
    "triangle": around(3),
    "star": around(10, (1.0, 0.42)),
    "cross": [
        *((-ARM, -0.9), (ARM, -0.9), (ARM, -ARM), (0.9, -ARM), (0.9, ARM), (ARM, ARM)),
        *((ARM, 0.9), (-ARM, 0.9), (-ARM, ARM), (-0.9, ARM), (-0.9, -ARM), (-ARM, -ARM)),
    ],
}
