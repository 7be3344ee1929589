"""A trained detector: a picture in, the things in it out, with their boxes. It needs no training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.pictures.boxes import Boxes, Whole, put_back
from regard.data.pictures.examples import Box, Picture, as_picture
from regard.data.pictures.prepare import as_batch
from regard.data.pictures.reading import Pixels, pillow
from regard.data.pictures.sizing import sized
from regard.errors import Error, writing
from regard.metrics.boxes import Found
from regard.models import DetectorModel
from regard.models.pixels import scaled
from regard.nn.boxes import corners
from regard.page.svg import COLOURS
from regard.results import Result
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool

THRESHOLD = 0.5  # of how sure a detector is of what it tells people
BATCH = 16  # pictures that are read at once
LINE_PIXELS = 2  # around a box that is drawn


@dataclass(frozen=True)
class FoundThing:
    """What was found, how surely, and where: left, top, right, bottom in pixels of the picture as it came."""

    label: str
    score: float
    box: Box

    def record(self) -> dict[str, Any]:
        return {"class": self.label, "score": self.score, "box": list(self.box)}

    def __str__(self) -> str:
        return f"{self.label} {self.score:.2f} {' '.join(f'{side:.0f}' for side in self.box)}"


@dataclass(frozen=True)
class Detected(Result):
    """The things in one picture, the surest first; `size` is its width and height."""

    picture: Picture
    things: tuple[FoundThing, ...]
    size: tuple[int, int]

    def line(self, scores: bool = False) -> str:
        return "\t".join([self.picture.name, *map(str, self.things)])

    def record(self) -> dict[str, Any]:
        width, height = self.size
        things = [thing.record() for thing in self.things]
        return {"picture": self.picture.name, "width": width, "height": height, "things": things}

    def save(self, path: str | Path) -> None:
        """The picture with the boxes drawn on it, as PNG."""
        found = pillow().fromarray(self.picture.pixels())
        drawing = pillow("ImageDraw").Draw(found)
        labels = sorted({thing.label for thing in self.things})
        for thing in self.things:
            colour = COLOURS[labels.index(thing.label) % len(COLOURS)]
            drawing.rectangle(thing.box, outline=colour, width=LINE_PIXELS)
            corner = (thing.box[0] + LINE_PIXELS, thing.box[1] + LINE_PIXELS)
            place = drawing.textbbox(corner, told := f"{thing.label} {thing.score:.2f}")
            drawing.rectangle(place, fill=colour)
            drawing.text(corner, told, fill="white")
        with writing(path):
            found.save(path, format="PNG")


@dataclass(frozen=True)
class Sizing:
    """How pictures are brought to what a detector reads: `side` pixels a side, by a `fit`."""

    side: int
    fit: Whole

    def __call__(self, pixels: Pixels) -> Pixels:
        return sized(pixels, self.side, self.side, self.fit)


class PictureDetector(Tool):
    """Finds things in pictures: `detector("a.jpg")` → `[FoundThing("cat", 0.98, (12.0, 3.5, 90.1, 80.0)), …]`. A
    picture is a file, pixels (H, W, 3) from 0 to 255, or what a data set gives."""

    model: DetectorModel

    def __init__(self, model: DetectorModel, names: Sequence[str], sizing: Sizing) -> None:
        self.model, self.names, self.sizing = model, tuple(names), sizing

    def __call__(self, picture: Any, threshold: float = THRESHOLD) -> list[FoundThing]:
        """The things in a picture, the surest first."""
        (found,) = self.results([picture], threshold=threshold)
        return list(found.things)

    def results(
        self,
        inputs: Sequence[Any],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
        threshold: float = THRESHOLD,
    ) -> list[Detected]:
        """Of each picture what is found at least so surely."""
        check_threshold(threshold)
        pictures = [as_picture(one, number) for number, one in enumerate(inputs, 1)]
        numbers = range(len(pictures))
        batches = [numbers[start : start + (batch or BATCH)] for start in range(0, len(pictures), batch or BATCH)]
        return self.in_order(batches, lambda some: self.detected([pictures[i] for i in some], threshold), done)

    def detected(self, pictures: Sequence[Picture], threshold: float) -> list[Detected]:
        every = [one.pixels() for one in pictures]
        found = self.found([self.sizing(pixels) for pixels in every], [pixels.shape for pixels in every])
        return [
            Detected(one, self.things(some, threshold), (pixels.shape[1], pixels.shape[0]))
            for one, some, pixels in zip(pictures, found, every, strict=True)
        ]

    def things(self, found: Found, threshold: float) -> tuple[FoundThing, ...]:
        """Those that are sure enough. Of a query's classes the likeliest counts, since it looks for one thing."""
        boxes, scores = (part.reshape(-1, len(self.names), *part.shape[1:]) for part in found[1:])
        best = scores.argmax(1)
        rows = np.arange(len(best))
        order = [row for row in np.argsort(-scores[rows, best], kind="stable") if scores[row, best[row]] >= threshold]
        return tuple(
            FoundThing(self.names[int(best[row])], float(scores[row, best[row]]), box_of(boxes[row, 0]))
            for row in order
        )

    @torch.no_grad()
    def found(self, pictures: Sequence[Pixels], shapes: Sequence[tuple[int, ...]]) -> list[Found]:
        """All that the queries say of pictures in the size that is read: each class of each, and how sure it is, with
        boxes in pixels of pictures of these shapes."""
        return self.told(self.model(self.batch(pictures)), shapes)

    def batch(self, pictures: Sequence[Pixels]) -> Tensor:
        """As the model takes them."""
        return scaled(as_batch(pictures, self.sizing.side), self.model.reader.config.pixels, self.device)

    def told(self, answers: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Found]:
        """What answers (B, Q, C + 4) of the model say."""
        logits, boxes = self.model.read(answers)
        chances = self.model.matching.chances(logits).cpu().numpy()
        places = (corners(boxes) * self.sizing.side).cpu().numpy()
        classes: NDArray[np.int64] = np.tile(np.arange(len(self.names)), answers.shape[1])
        return [
            (classes, np.repeat(self.back(own, shape), len(self.names), 0), sure.reshape(-1))
            for own, sure, shape in zip(places, chances, shapes, strict=True)
        ]

    def back(self, boxes: Boxes, shape: tuple[int, ...]) -> Boxes:
        return put_back(boxes, shape, self.sizing.side, self.sizing.fit)


def box_of(sides: NDArray[Any]) -> Box:
    left, top, right, bottom = sides.tolist()
    return left, top, right, bottom


def check_threshold(threshold: float) -> None:
    if not 0 <= threshold <= 1:
        raise Error(f"threshold {threshold}: it takes a chance from 0 to 1")
