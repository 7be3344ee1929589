"""The command line: runs the sides in turn, prints tables to stdout and progress to stderr."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import CTRANSLATE2, UnavailableError, call
from benchmarks.generation.work import BATCHES, PROMPT, WRITTEN, Record
from benchmarks.options import add_sides, chosen, parse
from benchmarks.rates import speeds
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.store import write
from benchmarks.table import markdown, ratios, spread, verdict
from regard.cli.options import positive


def ctranslate2(variant: str, title: str) -> Side:
    name = f"ct2-{variant.replace('_', '-')}"
    return Side(name, f"CTranslate2 {title}", "generation.sides.ctranslate2_side", variant, CTRANSLATE2)


SIDES = (
    Side("regard", "regard", "generation.sides.regard_side", "fp32", ours=True),
    Side("regard-int8", "regard, int8", "generation.sides.regard_side", "int8", ours=True),
    Side("transformers", "transformers, GPT2", "generation.sides.transformers_side"),
    ctranslate2("fp32", "fp32"),
    ctranslate2("fp32_onednn", "fp32, oneDNN"),
    ctranslate2("int8", "int8"),
    ctranslate2("int8_onednn", "int8, oneDNN"),
)
BARS = {1: (1.9, 0.9), 8: (2.0, 1.0)}  # to transformers, and to the fastest CTranslate2 fp32
BAR_INT8 = 1.8  # to our own fp32, one prompt at a time
SMOKE = {"length": 4, "times": 1, "rounds": 1}
Results = Sequence[Result[Record]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generation",
        description=f"GPT-2 124M writes on from prompts of {PROMPT} tokens, with the same random weights on all sides.",
    )
    parser.add_argument("--rounds", type=positive, default=3, help="how often every side has its turn")
    parser.add_argument("--length", type=positive, default=WRITTEN, help="tokens that are written")
    parser.add_argument("--times", type=positive, default=1, help="how often they are written in a turn")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured, outputs included")


@contextmanager
def weights() -> Iterator[Path]:
    """A folder with the model as each side reads it, until it is no longer needed."""
    with TemporaryDirectory(prefix="regard-benchmark-") as folder:
        print("making weights", file=sys.stderr)
        call(sys.executable, "-m", "benchmarks.generation.prepare", folder)
        try:
            call(str(CTRANSLATE2.python()), "-m", "benchmarks.generation.convert", folder)
        except UnavailableError as reason:
            print(f"no conversion for CTranslate2: {reason}", file=sys.stderr)
        yield Path(folder)


def named(results: Results, name: str) -> Result[Record] | None:
    return next((result for result in results if result.side.name == name and result.records), None)


def rival(results: Results) -> Result[Record] | None:
    """The fastest CTranslate2 that computes as precisely as we do."""
    found = [result for result in results if result.records and result.side.name.startswith("ct2-fp32")]
    return max(found, key=lambda result: statistics.median(speeds(result)), default=None)


def same(result: Result[Record], reference: Result[Record]) -> str:
    """The share of tokens that are the same, up to the first that is not."""
    shares = []
    for mine, other in zip(result.records[0].outputs, reference.records[0].outputs, strict=True):
        agreed = [a == b for a, b in zip(mine, other, strict=True)]
        shares.append((agreed.index(False) if False in agreed else len(agreed)) / len(agreed))
    return f"{100 * statistics.mean(shares):.0f}%"


def table(results: Results) -> str:
    done = [result for result in results if result.records]
    reference = named(results, "transformers") or next(iter(done), None)
    if reference is None:
        return "no side could run"
    peers = (named(results, "transformers"), rival(results))
    rows = []
    for result in results:
        if not result.records:
            rows.append([result.side.title, f"not available: {result.failure}"])
            continue
        measured = speeds(result)
        rows.append(
            [
                result.side.title,
                f"{statistics.median(measured):,.1f}",
                f"{min(measured):,.1f}–{max(measured):,.1f}",
                *("–" if peer is None else spread(ratios(measured, speeds(peer))) for peer in peers),
                same(result, reference),
                f"{result.records[0].peak_memory:,.0f}",
            ]
        )
    columns = (
        "side",
        "tokens/s",
        "min–max",
        "to transformers",
        "to the fastest CTranslate2 fp32",
        "same tokens",
        "MiB",
    )
    return markdown(columns, rows)


def verdicts(results: Results, batch: int) -> list[str]:
    """Whether we are as fast as we want to be."""
    lines, mine, small = [], named(results, "regard"), named(results, "regard-int8")
    for peer, bar in zip((named(results, "transformers"), rival(results)), BARS[batch], strict=True):
        if mine and peer:
            lines.append(f"to {peer.side.title}: {verdict(ratios(speeds(mine), speeds(peer)), bar)}")
    if mine and small and batch == 1:
        lines.append(f"int8 to our own fp32: {verdict(ratios(speeds(small), speeds(mine)), BAR_INT8)}")
    return lines


def main() -> None:
    given = arguments()
    measured: dict[str, list[Result[Record]]] = {}
    with weights() as folder:
        for batch in BATCHES:
            results: list[Result[Record]] = run_rounds(
                chosen(SIDES, given.sides),
                given.rounds,
                take=lambda side, batch=batch: Record(**side.run(folder, batch, given.length, given.times)),  # type: ignore[misc]
                tell=lambda record: f"{record.tokens_per_second:,.1f} tokens/s",
                label=f"batch {batch}",
                attempts=0 if given.smoke else ATTEMPTS,
            )
            measured[f"batch {batch}"] = results
            print(f"\nbatches of {batch}, {given.length} tokens each, {given.rounds} rounds\n")
            print("\n\n".join([table(results), *verdicts(results, batch)]), flush=True)
    if given.out:
        write(given.out, "tables", measured)


if __name__ == "__main__":
    main()
