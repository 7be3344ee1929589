"""The command line: runs the sides in turn, prints a table to stdout and progress to stderr."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedding.work import JUDGED, VECTORS, Record
from benchmarks.environments import ENCODERS, UnavailableError, call
from benchmarks.minilm import minilm
from benchmarks.options import add_sides, chosen, parse
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.store import write
from benchmarks.table import markdown, ratios, spread, verdict
from regard.cli.options import positive
from regard.metrics.correlation import spearman

ONNX = "embedding.sides.onnxruntime_side"
SIDES = (
    Side("regard", "regard", "embedding.sides.regard_side", "fp32", ours=True),
    Side("regard-int8", "regard, int8", "embedding.sides.regard_side", "int8", ours=True),
    Side("st", "sentence-transformers", "embedding.sides.sentence_transformers_side", environment=ENCODERS),
    Side("onnx-fused", "onnxruntime, its fused graph", ONNX, "fused", ENCODERS),
    Side("onnx-exported", "onnxruntime, `regard export`", ONNX, "exported", ENCODERS),
    Side("onnx-int8", "onnxruntime, fused, int8", ONNX, "int8", ENCODERS),
)
BAR_ST, BAR_ONNX, BAR_INT8 = 1.2, 1.0, 1.5  # to sentence-transformers, to the best fp32 graph, to our own fp32
EQUAL = 1e-4  # how far fp32 may be from sentence-transformers, in any value of a vector of length 1
SMOKE = {"texts": 50, "pairs": 20, "times": 1, "rounds": 1}
Results = Sequence[Result[Record]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.embedding",
        description="Vectors of texts of many lengths with MiniLM's weights, from text to normed vectors, two threads, "
        "each side with the best of its ways to batch. Data: stsb, sick, imdb and squad2 in REGARD_DATA.",
    )
    parser.add_argument("--rounds", type=positive, default=5, help="how often every side has its turn")
    parser.add_argument("--texts", type=positive, default=2000, help="how many are embedded")
    parser.add_argument("--pairs", type=positive, default=5000, help="of each set, at most, by which they are scored")
    parser.add_argument("--times", type=positive, default=1, help="how often they are embedded in a turn")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured")


@contextmanager
def prepared(texts: int, pairs: int) -> Iterator[Path]:
    """A folder with texts and weights as each side reads them, until it is no longer needed."""
    with TemporaryDirectory(prefix="regard-benchmark-") as folder:
        print("preparing", file=sys.stderr)
        call(sys.executable, "-m", "benchmarks.embedding.prepare", folder, str(minilm()), str(texts), str(pairs))
        try:
            call(str(ENCODERS.python()), "-m", "benchmarks.embedding.convert", folder)
        except UnavailableError as reason:
            print(f"no graphs for onnxruntime: {reason}", file=sys.stderr)
        yield Path(folder)


# --- what the vectors are worth ---------------------------------------------------------------------------------------


def vectors_of(folder: Path, side: Side, which: str = "") -> NDArray[Any]:
    found: NDArray[Any] = np.load(folder / VECTORS / f"{side.name}{which}.npy")
    return found


def correlations(folder: Path, side: Side) -> dict[str, float]:
    """Spearman's, of the cosines of pairs with what people say, by set."""
    vectors, found = vectors_of(folder, side, "-judged"), {}
    for name, pairs in json.loads((folder / JUDGED).read_text(encoding="utf-8")).items():
        count = len(pairs["scores"])
        first, second, vectors = vectors[:count], vectors[count : 2 * count], vectors[2 * count :]
        found[name] = spearman(pairs["scores"], (first * second).sum(1))
    return found


# --- the table --------------------------------------------------------------------------------------------------------


def speeds(result: Result[Record]) -> list[float]:
    return [record.texts_per_second for record in result.records]


def named(results: Results, *names: str) -> Result[Record] | None:
    """The fastest of these that have run."""
    found = [result for result in results if result.side.name in names and result.records]
    return max(found, key=lambda result: statistics.median(speeds(result)), default=None)


def table(results: Results, folder: Path) -> str:
    peers = (named(results, "st"), named(results, "onnx-fused", "onnx-exported"))
    reference = peers[0] or next((result for result in results if result.records), None)
    if reference is None:
        return "no side could run"
    right, rows = vectors_of(folder, reference.side), []
    sets = list(correlations(folder, reference.side))
    for result in results:
        if not result.records:
            rows.append([result.side.title, f"not available: {result.failure}"])
            continue
        vectors, scores = vectors_of(folder, result.side), correlations(folder, result.side)
        rows.append(
            [
                result.side.title,
                f"{statistics.median(speeds(result)):,.1f}",
                *("–" if peer is None else spread(ratios(speeds(result), speeds(peer))) for peer in peers),
                statistics.mode(record.batching for record in result.records),
                f"{np.abs(vectors - right).max():.1e}",
                f"{(vectors * right).sum(1).min():.6f}",
                *(f"{scores[name]:.4f}" for name in sets),
            ]
        )
    columns = (
        "side",
        "texts/s",
        "to sentence-transformers",
        "to the faster onnxruntime fp32",
        "batches",
        "farthest value",
        "least cosine",
        *(f"Spearman, {name}" for name in sets),
    )
    return markdown(columns, rows)


def verdicts(results: Results, folder: Path) -> list[str]:
    """Whether we are as fast as we want to be, and as exact."""
    lines, mine, small, st = [], named(results, "regard"), named(results, "regard-int8"), named(results, "st")
    onnx = named(results, "onnx-fused", "onnx-exported")
    for peer, bar in ((st, BAR_ST), (onnx, BAR_ONNX)):
        if mine and peer:
            lines.append(f"to {peer.side.title}: {verdict(ratios(speeds(mine), speeds(peer)), bar)}")
    if mine and small:
        lines.append(f"int8 to our own fp32: {verdict(ratios(speeds(small), speeds(mine)), BAR_INT8)}")
        before, after = correlations(folder, mine.side), correlations(folder, small.side)
        lost = ", ".join(f"{before[name] - after[name]:.4f} on {name}" for name in before)
        lines.append(f"what int8 loses in Spearman's correlation: {lost}")
    if mine and st:
        away = float(np.abs(vectors_of(folder, mine.side) - vectors_of(folder, st.side)).max())
        lines.append(
            f"fp32 equal to sentence-transformers within {EQUAL:g}: {'yes' if away <= EQUAL else 'no'} ({away:.1e})"
        )
    return lines


def main() -> None:
    given = arguments()
    with prepared(given.texts, given.pairs) as folder:
        results: list[Result[Record]] = run_rounds(
            chosen(SIDES, given.sides),
            given.rounds,
            take=lambda side: Record(**side.run(folder, side.name, given.times)),
            tell=lambda record: f"{record.texts_per_second:,.1f} texts/s ({record.batching})",
            label="embedding",
            attempts=0 if given.smoke else ATTEMPTS,
        )
        print(f"\n{given.texts:,} texts, {given.rounds} rounds\n")
        print("\n\n".join([table(results, folder), *verdicts(results, folder)]), flush=True)
    if given.out:
        write(given.out, "tables", {"embedding": results})


if __name__ == "__main__":
    main()
