"""The command line: runs the sides in turn, prints tables to stdout and progress to stderr."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.environments import JOEYNMT
from benchmarks.options import add_sides, chosen, parse
from benchmarks.rates import fastest_peer, speeds, table
from benchmarks.recurrent.work import SENTENCES, SIZES, WRITTEN, Record
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.step.record import LENGTH, PAIRS
from benchmarks.store import write
from benchmarks.table import ratios, verdict
from regard.cli.options import positive

SIDES = (
    Side("regard", "regard, bahdanau-2015", "recurrent.sides.regard_side", ours=True),
    Side("regard-auto", "the same, as `regard train`", "recurrent.sides.regard_side", variant="auto", ours=True),
    Side("joeynmt", "JoeyNMT", "recurrent.sides.joeynmt_side", environment=JOEYNMT),
)
MODES = {"train": f"training steps, {PAIRS} pairs of {LENGTH} tokens", "greedy": f"{SENTENCES} × {WRITTEN} tokens"}
BAR = 1.5
SMOKE = {"model": "small", "times": 1, "rounds": 1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recurrent", description="Recurrent translators with attention, beside JoeyNMT's."
    )
    parser.add_argument("--model", choices=(*SIZES, "both"), default="small")
    parser.add_argument("--rounds", type=positive, default=3, help="how often every side has its turn")
    parser.add_argument("--times", type=positive, default=8, help="measured steps or batches per turn")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured")


def summary(results: Sequence[Result[Record]]) -> str:
    peer = fastest_peer(results)
    lines = [table(results, ("parameters",), lambda result: [f"{result.records[-1].parameters:,}"])]
    for ours in (result for result in results if result.side.ours and result.records):
        if peer is not None:
            lines.append(f"{ours.side.title}: {verdict(ratios(speeds(ours), speeds(peer)), BAR)}")
    return "\n\n".join(lines)


def main() -> None:
    given = arguments()
    measured: dict[str, list[Result[Record]]] = {}
    for size in SIZES if given.model == "both" else [given.model]:
        for mode, title in MODES.items():
            results: list[Result[Record]] = run_rounds(
                [side for side in chosen(SIDES, given.sides) if mode == "train" or side.variant == "default"],
                given.rounds,
                take=lambda side, size=size, mode=mode: Record(**side.run(size, mode, given.times)),  # type: ignore[misc]
                tell=lambda record: f"{record.tokens_per_second:,.0f} tokens/s",
                label=f"{size}, {mode}",
                attempts=0 if given.smoke else ATTEMPTS,
            )
            measured[f"{size}, {mode}"] = results
            print(f"\n{size}: {title}\n\n{summary(results)}", flush=True)
    if given.out:
        write(given.out, "tables", measured)


if __name__ == "__main__":
    main()
