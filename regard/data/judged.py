"""Judged pairs: two texts and what they are to each other, a label or a score; their files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import DataError, Line, TableFile, column_of, lines, text_of


@dataclass(frozen=True)
class JudgedPair:
    """Two texts and the name of their relation, which is a number where `scored`."""

    first: str
    second: str
    label: str
    scored: bool = False

    @property
    def score(self) -> float:
        """Of a label that is a number."""
        try:
            value = float(self.label)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(
                f"the pair {self.first[:40]!r} has {self.label!r} where a score is needed: give it a number"
            )
        return value


class JudgedFile(TableFile[JudgedPair]):
    """The pairs of one file, in the columns "text_a", "text_b" and "label"; JSON may have numbers as labels.

    A line without either text is an empty one; a pair without a label is an error.
    """

    usual = ("text_a", "text_b", "label")
    called = "pair of texts"

    def example(self, line: Line, where: str) -> JudgedPair | None:
        first, second = (text_of(line, column, where).strip() for column in self.columns[:2])
        value = column_of(line, self.columns[2], where)
        number = isinstance(value, int | float)
        label = str(value).lower() if number else text_of(line, self.columns[2], where).strip()
        if not first and not second:
            return None
        if not first or not second:
            raise DataError(f"{where}: one of the two texts is empty; give it one or take the line out")
        if not label:
            raise DataError(f"{where}: the pair has no label; give it one or take the line out")
        if not self.named and where.endswith(", line 1") and label.lower() == self.usual[2]:
            raise DataError(f"{where}: {label!r} names a column; TSV has no header here: take it out, or use .csv")
        return JudgedPair(first, second, label)


@dataclass(frozen=True)
class Columns:
    """A named set between tabs: reads the `wanted` columns of each line, behind `header` lines, with `make`."""

    path: Path
    wanted: tuple[int, ...]
    header: int
    make: Callable[..., JudgedPair | None]
    about: str

    def __iter__(self) -> Iterator[JudgedPair]:
        for number, line in enumerate(lines(self.path), 1):
            cells = line.split("\t")
            if number <= self.header or not line.strip():
                continue
            found = self.make(*(cells[i].strip() for i in self.wanted)) if len(cells) > max(self.wanted) else None
            if found is None:
                raise DataError(f"{self.path}, line {number}: it is not {self.about}, between tabs")
            yield found
