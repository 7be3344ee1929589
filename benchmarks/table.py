"""Markdown tables, and ratios that are taken round by round, so that a slow spell of the machine cancels out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows that are too short, as that of a side that could not run, are filled up."""
    filled = [[*row, *[""] * (len(columns) - len(row))] for row in rows]
    lines = [list(columns), ["---"] + ["---:"] * (len(columns) - 1), *filled]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [mine / other for mine, other in zip(ours, theirs, strict=True)]


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """The median, and from where to where."""
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def verdict(values: Sequence[float], bar: float, least: bool = True) -> str:
    """Whether the median of some ratios is what it should be: `bar` at least, or at most."""
    met = statistics.median(values) >= bar if least else statistics.median(values) <= bar
    return f"{spread(values)}, wanted: at {'least' if least else 'most'} {bar:g}: {'met' if met else 'missed'}"
