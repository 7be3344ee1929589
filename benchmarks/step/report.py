"""A Markdown table of what was measured, each side as a ratio to the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks import rates
from benchmarks.rounds import Result
from benchmarks.step.record import Record

COLUMNS = (
    "peak MiB",
    "above the built model",
    "parameters",
    "loss, first → last",
    "cores others used",
)


def cells(result: Result[Record]) -> list[str]:
    last = result.records[-1]
    return [
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{statistics.median(record.peak_memory - record.built_memory for record in result.records):,.0f}",
        f"{last.parameters:,}",
        f"{last.first_loss:.2f} → {last.last_loss:.2f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Sequence[Result[Record]]) -> str:
    return rates.table(results, COLUMNS, cells)
