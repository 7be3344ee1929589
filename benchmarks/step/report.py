"""A Markdown table of what was measured, each side as a ratio to the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks import rates
from benchmarks.rates import fastest_peer, rate_cells
from benchmarks.rounds import Result
from benchmarks.step.record import Record
from benchmarks.table import markdown

COLUMNS = (
    *rates.COLUMNS,
    "peak MiB",
    "above the built model",
    "parameters",
    "loss, first → last",
    "cores others used",
)


def cells(result: Result[Record], peer: Result[Record] | None) -> list[str]:
    if not result.records:
        return [result.side.title, f"not available: {result.failure}"]
    last = result.records[-1]
    return [
        *rate_cells(result, peer),
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{statistics.median(record.peak_memory - record.built_memory for record in result.records):,.0f}",
        f"{last.parameters:,}",
        f"{last.first_loss:.2f} → {last.last_loss:.2f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Sequence[Result[Record]]) -> str:
    peer = fastest_peer(results)
    return markdown(COLUMNS, [cells(result, peer) for result in results])
