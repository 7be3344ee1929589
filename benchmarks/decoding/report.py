"""A Markdown table of what was measured, each side as a ratio to transformers and to the fastest CTranslate2."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.decoding.record import Record
from benchmarks.decoding.runner import OURS, RIVALS, TRANSFORMERS
from benchmarks.decoding.work import Mode
from benchmarks.rounds import Result
from benchmarks.table import markdown, ratios, spread, verdict

Results = Sequence[Result[Record]]

# At least so many times as fast as transformers and as the fastest CTranslate2 in fp32; alone: at most so much slower.
BARS = {"tiny": (3.0, 0.8), "base": (1.5, 0.9)}
BAR_ALONE = 1.5


def speeds(result: Result[Record]) -> list[float]:
    return [record.sentences_per_second for record in result.records]


def times(result: Result[Record]) -> list[float]:
    """Seconds a sentence."""
    return [1 / speed for speed in speeds(result)]


def named(results: Results, name: str) -> Result[Record] | None:
    return next((result for result in results if result.side.name == name and result.records), None)


def fastest_rival(results: Results) -> Result[Record] | None:
    """Of those that compute as precisely as we do."""
    rivals = [result for result in results if result.side.name in RIVALS and result.records]
    return max(rivals, key=lambda result: statistics.median(speeds(result)), default=None)


def same(result: Result[Record], reference: Result[Record]) -> str:
    """The share of sentences whose tokens are all the same."""
    pairs = zip(result.records[0].outputs, reference.records[0].outputs, strict=True)
    return f"{100 * statistics.mean(mine == other for mine, other in pairs):.1f}%"


def cells(
    result: Result[Record], mode: Mode, peers: Sequence[Result[Record] | None], reference: Result[Record]
) -> list[str]:
    if not result.records:
        return [result.side.title, f"not available: {result.failure}"]
    measured, form = (times(result), ".3f") if mode.alone else (speeds(result), ",.1f")
    return [
        result.side.title,
        f"{statistics.median(measured):{form}}",
        f"{min(measured):{form}}–{max(measured):{form}}",
        *("–" if peer is None else spread(ratios(speeds(result), speeds(peer))) for peer in peers),
        same(result, reference),
        f"{statistics.median(record.load_seconds for record in result.records):.1f}",
        f"{statistics.median(record.peak_memory for record in result.records):,.0f}",
        f"{max(max(record.foreign_cores, 0.0) for record in result.records):.2f}",
    ]


def table(results: Results, mode: Mode) -> str:
    done = [result for result in results if result.records]
    reference = named(results, TRANSFORMERS) or next(iter(done), None)
    if reference is None:
        return "no side could run"
    columns = (
        "side",
        "seconds a sentence" if mode.alone else "sentences/s",
        "min–max",
        "speed to transformers",
        "speed to the fastest CTranslate2 fp32",
        f"same tokens as {reference.side.name}",
        "s to load",
        "peak MiB",
        "cores others used",
    )
    peers = (named(results, TRANSFORMERS), fastest_rival(results))
    return markdown(columns, [cells(result, mode, peers, reference) for result in results])


def verdicts(results: Results, size: str, mode: Mode) -> list[str]:
    """Whether we are as fast as we want to be."""
    mine, theirs, rival = named(results, OURS), named(results, TRANSFORMERS), fastest_rival(results)
    lines = []
    if mine and rival and mode.alone:
        slower = ratios(times(mine), times(rival))
        lines.append(f"our time to that of {rival.side.title}: {verdict(slower, BAR_ALONE, least=False)}")
    elif mine and mode.beam > 1:
        for peer, bar in zip((theirs, rival), BARS[size], strict=True):
            if peer:
                lines.append(
                    f"our speed to that of {peer.side.title}: {verdict(ratios(speeds(mine), speeds(peer)), bar)}"
                )
    return lines
