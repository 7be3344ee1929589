"""A Markdown table of the time to the target, each side as a multiple of our time."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.quality.watch import Point, Series
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
    last, mine = one.points[-1], ours.reached(target) if ours else None
    point, over = one.reached(target) or last, "" if one.reached(target) else "over "  # it takes longer than we waited
    reached = [f"{over}{point.seconds:,.0f}", f"{point.validating:,.0f}", f"{over}{point.step:,}"]
    reached += ratios(point, mine, over)
    best = max(point.bleu for point in one.points)
    return [one.side.title, *reached, f"{best:.2f}", f"{last.seconds:,.0f}", f"{max(last.foreign_cores, 0.0):.2f}"]


def ratios(point: Point, ours: Point | None, over: str) -> list[str]:
    """Times our seconds, in all and without validations."""
    if ours is None:
        return ["–", "–"]
    training = (point.seconds - point.validating) / (ours.seconds - ours.validating)
    return [f"{over}{point.seconds / ours.seconds:.2f}", f"{over}{training:.2f}"]


def table(series: Sequence[Series], target: float) -> str:
    ours = next((one for one in series if one.side.ours), None)
    return markdown(COLUMNS, [cells(one, ours, target) for one in series])
