"""A Markdown table of what was measured, each side as a ratio to the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.epoch.record import Record
from benchmarks.rounds import Result
from benchmarks.table import markdown, ratios, spread, verdict

COLUMNS = (
    "side",
    "target tokens/s",
    "min–max",
    "ratio to the fastest peer",
    "seconds",
    "steps",
    "target tokens",
    "peak MiB",
    "cores others used",
)
BAR = 1.5  # times the fastest peer

Results = Sequence[Result[Record]]


def speeds(result: Result[Record]) -> list[float]:
    return [record.tokens_per_second for record in result.records]


def fastest_peer(results: Results) -> Result[Record] | None:
    peers = [result for result in results if result.records and not result.side.ours]
    return max(peers, key=lambda result: statistics.median(speeds(result)), default=None)


def cells(result: Result[Record], peer: Result[Record] | None) -> list[str]:
    if not result.records:
        return [result.side.title, f"not available: {result.failure}"]
    measured, last = speeds(result), result.records[-1]
    return [
        result.side.title,
        f"{statistics.median(measured):,.0f}",
        f"{min(measured):,.0f}–{max(measured):,.0f}",
        "–" if peer is None else spread(ratios(measured, speeds(peer))),
        f"{statistics.median(record.seconds for record in result.records):,.1f}",
        f"{last.steps:,}",
        f"{last.tokens:,}",
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Results) -> str:
    peer = fastest_peer(results)
    return markdown(COLUMNS, [cells(result, peer) for result in results])


def verdicts(results: Results) -> list[str]:
    peer = fastest_peer(results)
    mine = [result for result in results if result.records and result.side.ours]
    return [
        f"{result.side.title} to {peer.side.title}: {verdict(ratios(speeds(result), speeds(peer)), BAR)}"
        for result in mine
        if peer
    ]
