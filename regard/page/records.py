"""What a page is made of, as plain records: text, tables, charts and matrices, without tensors, models or HTML.

Tasks, training, looking and the lab hand these out; `regard.page.html.html` makes HTML of a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Weights: TypeAlias = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Element:
    """Something that a page shows. It draws itself in a notebook."""

    def _repr_html_(self) -> str:
        from regard.page.html import html

        return html([self])


@dataclass(frozen=True)
class Section(Element):
    """Elements under a heading; without anything to show it is left out."""

    heading: str
    content: Sequence[Element]


@dataclass(frozen=True)
class Prose(Element):
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code(Element):
    """Text as it is, every letter equally wide."""

    text: str


@dataclass(frozen=True)
class Folded(Element):
    """An element behind its summary, until somebody opens it."""

    summary: str
    content: Element


@dataclass(frozen=True)
class Numbers(Element):
    """Large numbers with small names: name → number."""

    values: Mapping[str, str]


@dataclass(frozen=True)
class Table(Element):
    """Rows of text under the names of their columns, if any. Without rows it says `empty`, or is left out."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    empty: str = ""


@dataclass(frozen=True)
class Card(Element):
    """An element in a box with a title; without anything to show it is left out."""

    title: str
    content: Element


@dataclass(frozen=True)
class Cards(Element):
    """Boxes side by side."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class ShadedText(Element):
    """A text in pieces (piece, share from 0 to 1, what hovering tells): the larger the share, the darker behind it."""

    pieces: Sequence[tuple[str, float, str]]


# --- matrices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordMatrix(Element):
    """Weights from 0 to 1 between words as shades, rows against columns; `gold` links (column, row) are outlined."""

    rows: Sequence[str]
    columns: Sequence[str]
    weights: Weights
    gold: Sequence[tuple[int, int]] = ()
    label: str = "alignment"
    cell_pixels: float = 22


@dataclass(frozen=True)
class ConfusionMatrix(Element):
    """How large a share of each right label (row) was taken for which label (column)."""

    labels: Sequence[str]
    shares: Weights


@dataclass(frozen=True)
class ReadingSteps(Element):
    """A text as it is read, one line a step: `weights` (T, T) say how much each word looks at those before it.
    Figure 1 of Cheng et al. 2016, arXiv:1601.06733."""

    words: Sequence[str]
    weights: Weights
    label: str = "reading"


# --- charts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A value and the interval in which it may be."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Points under one name; a dashed one, in grey, is a reference."""

    name: str
    points: Sequence[Point]
    dashed: bool = False

    @classmethod
    def through(cls, name: str, places: Iterable[tuple[float, float]]) -> Series:
        """A series of points (x, y) without intervals."""
        return cls(name, [Point(x, y) for x, y in places])


@dataclass(frozen=True)
class LineChart(Element):
    """Curves with their intervals as shades. An axis is logarithmic by powers of `log_x` or `log_y`; `names` are put
    below places of the x axis; `mark` is a line across it with what it means."""

    series: Sequence[Series]
    x_label: str
    label: str
    log_x: float | None = None
    log_y: float | None = None
    names: Sequence[tuple[float, str]] | None = None
    from_zero: bool = False
    mark: tuple[float, str] | None = None


@dataclass(frozen=True)
class DotChart(Element):
    """By name, values with their intervals on one axis: a dot for each group, groups told apart by colour."""

    rows: Sequence[tuple[str, Sequence[Point]]]
    groups: Sequence[str]
    x_label: str
    label: str
    digits: int = 1


@dataclass(frozen=True)
class BarChart(Element):
    """Bars (name, value, what hovering tells) from zero, the value above each."""

    bars: Sequence[tuple[str, float, str]]
    x_label: str
    label: str
