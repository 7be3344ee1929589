"""A Markdown table of what was measured, each side as a ratio to the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks import rates
from benchmarks.epoch.record import Record
from benchmarks.rates import fastest_peer, speeds
from benchmarks.rounds import Result
from benchmarks.table import ratios, verdict

COLUMNS = (
    "seconds",
    "steps",
    "target tokens",
    "peak MiB",
    "cores others used",
)
BAR = 1.5  # times the fastest peer

Results = Sequence[Result[Record]]


def cells(result: Result[Record]) -> list[str]:
    last = result.records[-1]
    return [
        f"{statistics.median(record.seconds for record in result.records):,.1f}",
        f"{last.steps:,}",
        f"{last.tokens:,}",
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Results) -> str:
    return rates.table(results, COLUMNS, cells)


def verdicts(results: Results) -> list[str]:
    peer = fastest_peer(results)
    mine = [result for result in results if result.records and result.side.ours]
    return [
        f"{result.side.title} to {peer.side.title}: {verdict(ratios(speeds(result), speeds(peer)), BAR)}"
        for result in mine
        if peer
    ]
