"""Pictures and what belongs to them, as people have them: folders by class, tables that name picture files.

A table stands beside its pictures: a path in it starts from the table's folder, or from a folder `images`, `pictures`
or `photos` in it. Several lines may speak of one picture: its captions, its boxes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from regard.data.files import TableFile, check_found, column_of, lines, text_of
from regard.data.forms import Line
from regard.data.pictures.examples import (
    AskedPicture,
    Box,
    BoxedPicture,
    CaptionedPicture,
    LabelledPicture,
    PictureFile,
)
from regard.errors import DataError, reading

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".pgm", ".ppm")
BESIDE = ("images", "pictures", "photos")
PICTURE_NAMES = ("picture", "image", "path", "file", "filename", "file_name")  # what their column may be called

SIDES = (("x0", "y0", "x1", "y1"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))  # of a box

CELLS = re.compile(r'[\t,"]')  # what stands around cells, in any form of table
LINES_SEEN = 2  # of a table: its first may be a header

E = TypeVar("E")


def names(*others: str) -> tuple[tuple[str, ...], ...]:
    """The columns of a table by all names of the picture's, with these of the rest."""
    return tuple((picture, *others) for picture in PICTURE_NAMES)


def is_picture_file(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


class PictureTable(TableFile[E], Generic[E]):
    """A table with a column of picture files. Where a file is missing, the table is refused, or, where `missing` hears
    of it, its line is left out."""

    missing: Callable[[str], None] | None = None

    def picture(self, line: Line, where: str) -> PictureFile | None:
        """The file that a line names; None where it names none, or where it is missing and left out."""
        name = text_of(line, self.columns[0], where).strip()
        if not name:
            return None
        path = place_of(name, self.path.parent)
        if path is not None:
            return PictureFile(path)
        if self.missing is None:
            raise DataError(f"{where}: the picture {name} is neither in {self.path.parent} nor in its folder images")
        self.missing(name)
        return None


def place_of(name: str, folder: Path) -> Path | None:
    """The picture of a table in this folder."""
    path = Path(name)
    places = [path] if path.is_absolute() else [folder / path, *(folder / beside / path for beside in BESIDE)]
    return next((place for place in places if place.is_file()), None)


class LabelledPictureTable(PictureTable[LabelledPicture]):
    """A line for each picture: its file and its label."""

    usual = ("picture", "label")
    also = (*names("label"), *names("class"), *names("word"))
    called = "labelled picture"

    def example(self, line: Line, where: str) -> LabelledPicture | None:
        label = name_of(line, self.columns[1], where)
        picture = self.picture(line, where)
        if picture is None:
            return None
        if not label:
            raise DataError(f"{where}: the picture has no label")
        return LabelledPicture(picture, label, where)


class AskedPictureTable(PictureTable[AskedPicture]):
    """A line for each question: the picture's file, the question, the answer."""

    usual = ("picture", "question", "answer")
    also = names("question", "answer")
    called = "question about a picture"

    def example(self, line: Line, where: str) -> AskedPicture | None:
        question, answer = (name_of(line, column, where) for column in self.columns[1:])
        picture = self.picture(line, where)
        if picture is None:
            return None
        if not question or not answer:
            raise DataError(f"{where}: a question and its answer belong to a picture; one of them is empty")
        return AskedPicture(picture, question, answer, where)


class CaptionTable(PictureTable[CaptionedPicture]):
    """A line for each caption, or, in JSONL, for each picture with a list of them; captions of one picture need not
    follow each other."""

    usual = ("picture", "caption")
    also = (*names("caption"), *names("captions"), *names("text"))
    called = "captioned picture"

    def example(self, line: Line, where: str) -> CaptionedPicture | None:
        value = column_of(line, self.columns[1], where)
        captions = [value] if isinstance(value, str) else value
        if not isinstance(captions, list) or not all(isinstance(one, str) for one in captions):
            raise DataError(f"{where}: column {self.columns[1]!r} holds neither a caption nor a list of captions")
        said = tuple(" ".join(one.split()) for one in captions if one.strip())
        picture = self.picture(line, where)
        return CaptionedPicture(picture, said, where) if picture is not None and said else None

    def __iter__(self) -> Iterator[CaptionedPicture]:
        for picture, found in grouped(super().__iter__()):
            captions = tuple(caption for line in found for caption in line.captions)
            yield CaptionedPicture(picture, captions, found[0].where)


class BoxTable(PictureTable[BoxedPicture]):
    """A line for each thing: the picture's file, the class, and its box in pixels: left, top, right, bottom."""

    usual = ("picture", "class", *SIDES[0])
    also = tuple((*pair, *sides) for sides in SIDES for pair in (*names("class"), *names("label")))
    called = "picture with boxes"

    def example(self, line: Line, where: str) -> BoxedPicture | None:
        name = name_of(line, self.columns[1], where)
        picture = self.picture(line, where)
        if picture is None:
            return None
        if not name:
            raise DataError(f"{where}: the box has no class")
        left, top, right, bottom = (number_of(line, column, where) for column in self.columns[2:])
        return BoxedPicture(picture, ((name, checked((left, top, right, bottom), where)),), where)

    def __iter__(self) -> Iterator[BoxedPicture]:
        for picture, found in grouped(super().__iter__()):
            boxes = tuple(box for line in found for box in line.boxes)
            yield BoxedPicture(picture, boxes, found[0].where, tuple(line.where for line in found))


def grouped(examples: Iterable[Any]) -> Iterator[tuple[PictureFile, list[Any]]]:
    """Those of one picture together, in the order in which pictures come first."""
    every: dict[PictureFile, list[Any]] = {}
    for example in examples:
        every.setdefault(example.picture, []).append(example)
    yield from every.items()


def name_of(line: Line, column: str, where: str) -> str:
    """A name in a column; JSON may have a whole number instead."""
    value = column_of(line, column, where)
    return str(value) if isinstance(value, int) else " ".join(text_of(line, column, where).split())


def number_of(line: Line, column: str, where: str) -> float:
    value = column_of(line, column, where)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{where}: column {column!r} is {value!r}; it takes a number of pixels") from None


def checked(box: Box, where: str) -> Box:
    """A box with something in it; what lies outside of the picture is seen when the picture is read."""
    left, top, right, bottom = box
    if not (left < right and top < bottom and all(map(math.isfinite, box))):
        raise DataError(
            f"{where}: the box from ({left:g}, {top:g}) to ({right:g}, {bottom:g}) is empty or upside down; "
            "it takes left, top, right, bottom"
        )
    return box


# --- folders ----------------------------------------------------------------------------------------------------------


@dataclass
class PictureFolders:
    """The pictures of a folder that has a folder for each class."""

    path: Path
    skipped: int = 0  # files that are no pictures

    def __iter__(self) -> Iterator[LabelledPicture]:
        self.skipped, count = 0, 0
        for folder in folders_in(self.path):
            for path in files_in(folder):
                if not is_picture_file(path.name):
                    self.skipped += 1
                    continue
                count += 1
                yield LabelledPicture(PictureFile(path), folder.name, str(path))
        check_found(count, self.skipped, str(self.path), "picture in a folder of its class")


def folders_in(folder: Path) -> Sequence[Path]:
    with reading(folder):
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def files_in(folder: Path) -> Sequence[Path]:
    """At any depth, in the order of their names."""
    with reading(folder):
        return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def holds_picture_folders(path: Path) -> bool:
    """Whether a folder has folders with pictures in them."""
    return path.is_dir() and any(
        is_picture_file(file.name) for folder in folders_in(path) for file in files_in(folder)[:1]
    )


def names_pictures(path: Path) -> bool:
    """Whether the first lines of a table have a cell that names a picture file."""
    beginning = itertools.islice(lines(path), LINES_SEEN)
    return any(is_picture_file(cell.strip()) for line in beginning for cell in CELLS.split(line))
