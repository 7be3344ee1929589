"""The command line: runs the sides in turn, prints a table to stdout and progress to stderr."""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path

from benchmarks.environments import pinned
from benchmarks.record import LENGTH, PAIRS
from benchmarks.report import table
from benchmarks.runner import SIDES, Result, Side, run_rounds

STEPS = {"tiny": 20, "base": 5}  # measured after the warm-up; a step of the base model takes seconds


def chosen_sides(names: str) -> list[Side]:
    known = {side.name: side for side in SIDES}
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown side {unknown[0]!r}: choose from {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="One training step, beside other toolkits."
    )
    parser.add_argument("--model", choices=(*STEPS, "both"), default="both")
    parser.add_argument("--rounds", type=positive, default=3, help="how often every side has its turn")
    parser.add_argument("--steps", type=positive, help=f"measured steps per turn; by default {STEPS}")
    parser.add_argument(
        "--sides", type=chosen_sides, default=list(SIDES), help=f"of {','.join(side.name for side in SIDES)}"
    )
    parser.add_argument("--out", type=Path, help="a JSON file for all that was measured")
    return parser.parse_args()


def as_json(measured: dict[str, list[Result]]) -> str:
    models = {
        size: {
            result.side.name: {"records": [asdict(record) for record in result.records], "failure": result.failure}
            for result in results
        }
        for size, results in measured.items()
    }
    return json.dumps({"torch": pinned("torch"), "machine": platform.platform(), "models": models}, indent=1) + "\n"


def main() -> None:
    given = arguments()
    measured: dict[str, list[Result]] = {}
    for size in STEPS if given.model == "both" else [given.model]:
        steps = given.steps or STEPS[size]
        measured[size] = run_rounds(given.sides, size, given.rounds, steps)
        print(f"\n{size}: {PAIRS} pairs of {LENGTH} tokens, {given.rounds} rounds of {steps} steps\n")
        print(table(measured[size]), flush=True)
    if given.out:
        given.out.write_text(as_json(measured))


if __name__ == "__main__":
    main()
