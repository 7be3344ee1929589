"""A Markdown table of the time to the target, each side as a multiple of our time."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.quality.watch import Series
from benchmarks.table import markdown

COLUMNS = (
    "side",
    "seconds",
    "of which validating",
    "steps",
    "times our seconds",
    "without validating",
    "best BLEU",
    "seconds in all",
    "cores others used",
)


def cells(one: Series, ours: Series | None, target: float) -> list[str]:
    if not one.points:
        return [one.side.title, f"not available: {one.failure}"]
    point, mine = one.reached(target), ours.reached(target) if ours else None
    if point is None:
        reached = ["not reached", "", "", "", ""]
    else:
        reached = [f"{point.seconds:,.0f}", f"{point.validating:,.0f}", f"{point.step:,}"]
        reached += (
            ["–", "–"]
            if mine is None
            else [
                f"{point.seconds / mine.seconds:.2f}",
                f"{(point.seconds - point.validating) / (mine.seconds - mine.validating):.2f}",
            ]
        )
    best, last = max(point.bleu for point in one.points), one.points[-1]
    return [one.side.title, *reached, f"{best:.2f}", f"{last.seconds:,.0f}", f"{max(last.foreign_cores, 0.0):.2f}"]


def table(series: Sequence[Series], target: float) -> str:
    ours = next((one for one in series if one.side.ours), None)
    return markdown(COLUMNS, [cells(one, ours, target) for one in series])
