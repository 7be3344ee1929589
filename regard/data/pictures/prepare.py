"""From pictures to a store: read once, brought to a size, on all cores, continued where it was stopped.

A picture is a row of bytes, so that a store of tokens holds it; what belongs to it stands in the other columns. Memory
holds the pictures of one part, however many there are.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.growing import GrowingStore
from regard.data.pictures.examples import Picture, PictureFile
from regard.data.pictures.reading import Pixels
from regard.data.progress import counting
from regard.data.store import HEADER, Store

PICTURES_A_PART = 256  # that are in memory, and that a stop may cost
BYTES = 256  # the values of a row, at least

Read = Callable[[Picture], Pixels]  # a picture as it is stored
Marks = Callable[[Sequence[Any]], Sequence[Sequence[Sequence[int]]]]  # the other columns of some examples


def pictured(
    folder: Path,
    examples: Iterable[Any],
    read: Read,
    marks: Marks,
    limit: int,
    made: str,
    say: Callable[[str], None],
    sides: int = 2,
    what: str = "reading pictures",
) -> Store:
    """The store of examples with a `picture`. A whole store is opened; one that was stopped is continued.

    `read` makes what is stored of a picture, `marks` the other columns, of numbers below `limit`; `made` names what
    decides how pictures are stored.
    """
    if (folder / HEADER).exists():
        return Store.open(folder)
    with GrowingStore(folder, max(limit, BYTES), sides, "", made) as growing, counting(what) as told:
        say(what if not growing.done else f"{what}: {growing.rows:,} were read before")
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for place, part in enumerate(parts(examples)):
                mark = mark_of(part)
                if place < len(growing.done):
                    if growing.done[place].mark == mark:
                        told(len(part))
                        continue
                    growing.keep(place)  # the pictures are others from here on
                rows = list(threads.map(lambda example: read(example.picture).reshape(-1), part))
                columns = zip(rows, marks(part), strict=True)
                growing.add(mark, [(row, *others) for row, others in columns], sum(map(len, rows)))
                told(len(part))
        return growing.finish()


def parts(examples: Iterable[Any]) -> Iterator[list[Any]]:
    stream = iter(examples)
    while part := list(itertools.islice(stream, PICTURES_A_PART)):
        yield part


def mark_of(part: Sequence[Any]) -> str:
    """By which a part is known again: the names of its pictures, and the size and date of their files."""
    seen = hashlib.blake2b(digest_size=16)
    for example in part:
        picture = example.picture
        seen.update(picture.name.encode("utf-8", "surrogateescape"))
        if isinstance(picture, PictureFile):
            try:
                about = picture.path.stat()
                seen.update(f"{about.st_size} {about.st_mtime_ns}".encode())
            except OSError:
                """It is missing, which reading says."""
    return seen.hexdigest()


def as_batch(rows: Sequence[NDArray[np.integer[Any]]], side: int) -> Pixels:
    """(B, side, side, 3)"""
    return np.stack([np.asarray(row, dtype=np.uint8) for row in rows]).reshape(-1, side, side, 3)
