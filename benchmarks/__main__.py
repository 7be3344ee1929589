"""The command line: runs the sides in turn, prints a table to stdout and progress to stderr."""

from __future__ import annotations

import argparse

from benchmarks.options import add_sides, chosen, parse
from benchmarks.rounds import Result
from benchmarks.step.record import LENGTH, PAIRS, Record
from benchmarks.step.report import table
from benchmarks.step.runner import SIDES, run
from benchmarks.store import write
from regard.cli.options import positive

STEPS = {"tiny": 20, "base": 5}  # measured after the warm-up; a step of the base model takes seconds
SMOKE = {"model": "tiny", "steps": 1, "rounds": 1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="One training step, beside other toolkits."
    )
    parser.add_argument("--model", choices=(*STEPS, "both"), default="both")
    parser.add_argument("--rounds", type=positive, default=3, help="how often every side has its turn")
    parser.add_argument("--steps", type=positive, help=f"measured steps per turn; by default {STEPS}")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured")


def main() -> None:
    given = arguments()
    measured: dict[str, list[Result[Record]]] = {}
    for size in STEPS if given.model == "both" else [given.model]:
        steps = given.steps or STEPS[size]
        measured[size] = run(chosen(SIDES, given.sides), size, given.rounds, steps, given.smoke)
        print(f"\n{size}: {PAIRS} pairs of {LENGTH} tokens, {given.rounds} rounds of {steps} steps\n")
        print(table(measured[size]), flush=True)
    if given.out:
        write(given.out, "models", measured)


if __name__ == "__main__":
    main()
