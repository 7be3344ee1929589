"""Which columns of a table hold what: by the names in its header, by their numbers, or in the usual order.

GLUE's files and their relatives are known by their headers, and those that come without one by the cells of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regard.errors import DataError

Names = tuple[str, ...]

MESSAGE_CHARACTERS = 80  # of a line that a message quotes


@dataclass(frozen=True)
class Bare:
    """A form of TSV that comes without a header: what its columns are called, which cells they are, counted from 0, and
    whether a line `fits` it."""

    columns: Names
    places: tuple[int, ...]
    fits: Callable[[Sequence[str]], bool]


@dataclass(frozen=True)
class Known:
    """What the columns of a kind of examples may be called: `names`, the usual ones last, of which the first that are
    all there count; and the forms without names."""

    names: tuple[Names, ...]
    bare: tuple[Bare, ...] = ()

    def among(self, present: Iterable[str]) -> Names | None:
        """The first set of names of which the header has all."""
        there = set(present)
        return next((names for names in self.names if there.issuperset(names)), None)


@dataclass(frozen=True)
class ColumnLayout:
    """Where the columns of a TSV file stand: names, cells counted from 0, and whether its first line is a header."""

    columns: Names
    places: tuple[int, ...]
    header: bool = False


def layout(cells: Sequence[str], wanted: Names | None, known: Known, path: str) -> ColumnLayout:
    """Of a TSV file whose first line has these cells; `wanted` are the columns that were asked for, by name or number,
    which must be there."""
    if wanted is not None and all(name.isdecimal() for name in wanted):
        if "0" in wanted:
            raise DataError(f"{path}: no column 0: columns are counted from 1")
        return ColumnLayout(tuple(f"column {name}" for name in wanted), tuple(int(name) - 1 for name in wanted))
    if wanted is not None:
        for name in wanted:
            if name not in cells:
                line = " | ".join(cells)[:MESSAGE_CHARACTERS]
                raise DataError(
                    f"{path}: the first line, {line!r}, has no column {name!r}; without a header columns are named by "
                    "their numbers, such as 1,2"
                )
    names = wanted or known.among(cells)
    if names is not None:
        return ColumnLayout(names, tuple(cells.index(name) for name in names), header=True)
    for form in known.bare:
        if form.fits(cells):
            return ColumnLayout(form.columns, form.places)
    usual = known.names[-1]
    return ColumnLayout(usual, tuple(range(len(usual))))


def is_number(text: str) -> bool:
    return text.strip().removeprefix("-").replace(".", "", 1).isdecimal()
