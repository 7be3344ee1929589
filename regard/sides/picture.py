"""One picture that goes in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.pictures.examples import Picture, PictureFile, as_picture
from regard.data.pictures.prepare import as_batch
from regard.data.pictures.reading import Pixels
from regard.data.pictures.sizing import Fit, sized
from regard.models import Model, picture_reader_in
from regard.models.pixels import scaled
from regard.sides.base import Batch, InputSide


class OnePicture(InputSide[Picture]):
    """A picture of `side` pixels a side, to which each is brought by `fit`; a row is its values, colour by colour."""

    names = ("picture",)
    plural = "pictures"

    def __init__(self, side: int, fit: Fit) -> None:
        self.side, self.fit = side, fit

    @staticmethod
    def of(example: Any) -> Picture:
        picture: Picture = example.picture
        return picture

    @staticmethod
    def texts(value: Picture) -> Sequence[str]:
        return (value.name,)

    def parse(self, line: str, number: int) -> Picture | None:
        """The file that a line names."""
        return PictureFile(Path(line.strip())) if line.strip() else None

    def check(self, values: Sequence[Picture]) -> None:
        """What cannot be read is told when it is read."""

    def is_blank(self, value: Picture, number: int) -> bool:
        return False

    def read(self, picture: Picture) -> Pixels:
        """(side, side, 3)"""
        return sized(picture.pixels(least=self.side), self.side, self.side, self.fit)

    def rows(self, values: Sequence[Picture]) -> tuple[list[NDArray[np.uint8]], int]:
        return [self.read(picture).reshape(-1) for picture in values], 0

    def size(self, lengths: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """Pictures are counted, not their cells."""
        return np.ones_like(lengths[0])

    def batch(self, rows: Sequence[Any], model: Model) -> Batch:
        return self.seen(as_batch(rows, self.side), model)

    def looked_at(self, given: Any, model: Model) -> tuple[str, Pixels, Batch]:
        """The name of a picture, its pixels as the model sees them, and what the model is called with."""
        picture = as_picture(given)
        pixels = self.read(picture)
        return picture.name, pixels, self.seen(pixels[None].copy(), model)

    def seen(self, pixels: Pixels, model: Model) -> Batch:
        """(B, side, side, 3) as the reader of a model takes them."""
        reader = picture_reader_in(model)
        assert reader is not None
        return (scaled(pixels, reader.config.pixels, next(model.parameters()).device),)

    def count(self, batch: Batch) -> int:
        return len(batch[0])
