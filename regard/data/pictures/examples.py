"""What data of pictures yields: a picture, and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from regard.errors import DataError

if TYPE_CHECKING:
    from regard.data.pictures.reading import Pixels

Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels of the picture


class Picture(Protocol):
    """Where a picture comes from: it is read when it is asked for. `name` is what messages call it."""

    @property
    def name(self) -> str: ...

    def pixels(self, least: int | None = None) -> Pixels:
        """(height, width, 3); `least` is the shorter side that is needed of it."""


@dataclass(frozen=True)
class PictureFile:
    """One in a file."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    def pixels(self, least: int | None = None) -> Pixels:
        from regard.data.pictures.reading import read_picture  # with numpy, which naming a file does not need

        return read_picture(self.path, least=least)


@dataclass(frozen=True)
class MadePicture:
    """One that is made where it is asked for: drawn, or cut out of a file that holds many."""

    name: str
    make: Callable[[], Pixels] = field(compare=False, repr=False)

    def pixels(self, least: int | None = None) -> Pixels:
        return self.make()


def as_picture(value: Any, number: int = 1) -> Picture:
    """What a caller calls a picture: a file, the bytes of one, pixels (H, W, 3), a picture of Pillow's, or one already;
    `number` counts it in messages."""
    if isinstance(value, str | Path):
        return PictureFile(Path(value))
    if hasattr(value, "pixels"):
        found: Picture = value
        return found
    import numpy as np

    from regard.data.pictures.reading import read_picture

    name = f"picture {number}"
    if isinstance(value, bytes):
        return MadePicture(name, lambda: read_picture(value, name))
    pixels = np.asarray(value.convert("RGB") if hasattr(value, "convert") else value)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise DataError(
            f"{name} is {type(value).__name__} of {pixels.shape} {pixels.dtype}; it takes a file, or pixels "
            "(height, width, 3) in whole numbers from 0 to 255 (uint8)"
        )
    return MadePicture(name, lambda: pixels)


@dataclass(frozen=True)
class LabelledPicture:
    """A picture and the name of its class; `where` is its place in a file, for messages."""

    picture: Picture
    label: str
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class CaptionedPicture:
    """A picture and what several people say of it."""

    picture: Picture
    captions: tuple[str, ...]
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class AskedPicture:
    """A picture, a question about it, and the answer."""

    picture: Picture
    question: str
    answer: str
    where: str = field(default="", compare=False, repr=False)

    @property
    def label(self) -> str:
        """What is right, by the name that it has of all that is judged."""
        return self.answer


@dataclass(frozen=True)
class BoxedPicture:
    """A picture and the things in it: of each its class and its box, and in `lines` its place in a file."""

    picture: Picture
    boxes: tuple[tuple[str, Box], ...]
    where: str = field(default="", compare=False, repr=False)
    lines: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def place(self, number: int) -> str:
        """What a message calls the `number`th thing, counted from 0."""
        return self.lines[number] if self.lines else f"{self.where or self.picture.name}, box {number + 1}"
