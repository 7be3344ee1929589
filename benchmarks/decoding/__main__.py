"""The command line: runs the sides in turn, prints tables to stdout and progress to stderr."""

from __future__ import annotations

import argparse

from benchmarks.decoding.record import Record
from benchmarks.decoding.report import table, verdicts
from benchmarks.decoding.runner import SIDES, run, useful, weights
from benchmarks.decoding.work import LONGEST, MODES, SHORTEST
from benchmarks.options import add_sides, chosen, parse, several
from benchmarks.rounds import Result
from benchmarks.sizes import SIZES
from benchmarks.store import write
from regard.cli.options import positive

TABLES = {"tiny": ("beam", "greedy"), "base": ("beam", "greedy", "single")}
SMOKE = {"sentences": 6, "length": 5, "rounds": 1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decoding",
        description=f"Translate sentences of {SHORTEST} to {LONGEST} tokens with the same random weights on all sides.",
    )
    parser.add_argument("--model", choices=(*SIZES, "both"), default="both")
    parser.add_argument("--modes", type=several(tuple(MODES)), help=f"of {','.join(MODES)}; by default {TABLES}")
    add_sides(parser, SIDES)
    parser.add_argument("--rounds", type=positive, default=5, help="how often every side has its turn")
    parser.add_argument("--sentences", type=positive, help="by default what the mode says: 200, or 20 one by one")
    parser.add_argument("--length", type=positive, default=30, help="tokens of each output, on all sides")
    return parse(parser, SMOKE, "all that was measured, outputs included")


def main() -> None:
    given = arguments()
    measured: dict[str, list[Result[Record]]] = {}
    for size in SIZES if given.model == "both" else [given.model]:
        with weights(size) as folder:
            for name in given.modes or TABLES[size]:
                mode = MODES[name]
                sides = [side for side in chosen(SIDES, given.sides) if useful(side, mode.alone)]
                count = given.sentences or mode.sentences
                results = run(sides, folder, size, name, count, given.length, given.rounds, given.smoke)
                measured[f"{size}, {name}"] = results
                print(f"\n{size}, {mode.title}: {count} sentences to {given.length} tokens, {given.rounds} rounds\n")
                print("\n\n".join([table(results, mode), *verdicts(results, size, mode)]), flush=True)
    if given.out:
        write(given.out, "tables", measured)


if __name__ == "__main__":
    main()
