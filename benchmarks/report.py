"""A Markdown table of what was measured, each side as a ratio to the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.runner import Result

COLUMNS = (
    "side",
    "target tokens/s",
    "min–max",
    "ratio to the fastest peer",
    "peak MiB",
    "above the built model",
    "parameters",
    "loss, first → last",
    "cores others used",
)


def speeds(result: Result) -> list[float]:
    return [record.tokens_per_second for record in result.records]


def fastest_peer(results: Sequence[Result]) -> Result | None:
    peers = [result for result in results if result.records and not result.side.ours]
    return max(peers, key=lambda result: statistics.median(speeds(result)), default=None)


def ratio(result: Result, peer: Result | None) -> str:
    """Round by round, so that a slow spell of the machine cancels out; the median, and the spread."""
    if peer is None:
        return "–"
    ratios = [ours / theirs for ours, theirs in zip(speeds(result), speeds(peer), strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def cells(result: Result, peer: Result | None) -> list[str]:
    if not result.records:
        return [result.side.title, f"not available: {result.failure}"] + [""] * (len(COLUMNS) - 2)
    measured, last = speeds(result), result.records[-1]
    return [
        result.side.title,
        f"{statistics.median(measured):,.0f}",
        f"{min(measured):,.0f}–{max(measured):,.0f}",
        ratio(result, peer),
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{statistics.median(record.peak_memory - record.built_memory for record in result.records):,.0f}",
        f"{last.parameters:,}",
        f"{last.first_loss:.2f} → {last.last_loss:.2f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Sequence[Result]) -> str:
    peer = fastest_peer(results)
    rows = [list(COLUMNS), ["---"] + ["---:"] * (len(COLUMNS) - 1)]
    rows += [cells(result, peer) for result in results]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
