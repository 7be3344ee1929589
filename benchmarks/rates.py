"""Target tokens a second, each side beside the fastest peer of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from benchmarks.rounds import Result
from benchmarks.table import markdown, ratios, spread


class Rated(Protocol):
    """A record of one turn."""

    @property
    def tokens_per_second(self) -> float: ...


R = TypeVar("R", bound=Rated)
COLUMNS = ("side", "target tokens/s", "min–max", "ratio to the fastest peer")


def speeds(result: Result[R]) -> list[float]:
    return [record.tokens_per_second for record in result.records]


def fastest_peer(results: Sequence[Result[R]]) -> Result[R] | None:
    peers = [result for result in results if result.records and not result.side.ours]
    return max(peers, key=lambda result: statistics.median(speeds(result)), default=None)


def rate_cells(result: Result[R], peer: Result[R] | None) -> list[str]:
    """Of a side that has run: what stands under `COLUMNS`."""
    measured = speeds(result)
    return [
        result.side.title,
        f"{statistics.median(measured):,.0f}",
        f"{min(measured):,.0f}–{max(measured):,.0f}",
        "–" if peer is None else spread(ratios(measured, speeds(peer))),
    ]


def table(results: Sequence[Result[R]], columns: Sequence[str], cells: Callable[[Result[R]], Sequence[str]]) -> str:
    """A row for each side: its rates, then its `cells` under `columns`, or why it is not available."""
    peer = fastest_peer(results)
    rows = [
        [*rate_cells(result, peer), *cells(result)]
        if result.records
        else [result.side.title, f"not available: {result.failure}"]
        for result in results
    ]
    return markdown((*COLUMNS, *columns), rows)
