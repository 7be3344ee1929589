"""The command line: one side after another, a table to stdout and progress to stderr."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.corpus import corpus
from benchmarks.environments import JOEYNMT
from benchmarks.options import add_sides, chosen, parse
from benchmarks.quality.recipe import named, read_recipe
from benchmarks.quality.report import table
from benchmarks.quality.watch import Scorer, Series, follow
from benchmarks.rounds import wait_for_quiet
from benchmarks.side import Side
from regard.cli.options import positive

SIDES = (
    Side("regard", "regard", "quality.sides.regard_side", ours=True),
    Side("joeynmt-noam", "JoeyNMT, transformer_small", "quality.sides.joeynmt_side", "noam", JOEYNMT),
    Side("joeynmt-iwslt14", "JoeyNMT, IWSLT14", "quality.sides.joeynmt_side", "iwslt14", JOEYNMT),
)
SMOKE = {"sentences": 200, "valid": 8, "every": 1, "target": 0.0, "limit_minutes": 3.0}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description="Seconds to a validation BLEU on Multi30k, English to German."
    )
    add_sides(parser, SIDES)
    parser.add_argument("--recipe", type=Path, default=Path("recipes/multi30k-en-de-quick.yaml"), help="ours, in YAML")
    parser.add_argument("--target", type=float, default=30.0, help="the BLEU to reach")
    parser.add_argument("--limit-minutes", type=float, default=60.0, help="for each side")
    parser.add_argument("--every", type=positive, default=250, help="steps between validations, on all sides")
    parser.add_argument("--sentences", type=positive, help="train on the first so many; by default on all 29,000")
    parser.add_argument("--valid", type=positive, help="validate on the first so many; by default on all 1,014")
    return parse(parser, SMOKE, "the BLEU by time")


def as_json(target: float, series: list[Series]) -> str:
    sides = {one.side.name: {"points": [asdict(p) for p in one.points], "failure": one.failure} for one in series}
    return json.dumps({"target": target, "sides": sides}, indent=1) + "\n"


def main() -> None:
    given = arguments()
    _, task = read_recipe(given.recipe, named("train"), named("valid"))
    series: list[Series] = []
    with corpus(given.sentences, given.valid, task.tokenizer, task.pieces) as folder:
        scorer, recipe = Scorer(folder), given.recipe.resolve()
        for side in chosen(SIDES, given.sides):
            if not given.smoke:
                wait_for_quiet()
            series.append(follow(side, scorer, folder, recipe, given.every, given.target, given.limit_minutes))
            if given.out:  # after every side: the next takes an hour
                given.out.write_text(as_json(given.target, series))
    print(f"\nTo BLEU {given.target:g} on {len(scorer.references):,} sentences, validated every {given.every} steps\n")
    print(table(series, given.target), flush=True)


if __name__ == "__main__":
    main()
