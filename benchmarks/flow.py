"""What pre-training on one's own texts is worth, on IMDB: `python -m benchmarks.flow` prints a table.

A small BERT reads 20,000 reviews without their labels for 15 minutes (recipes/imdb-bert-pretrain.yaml). Then it is
tuned on 500 labelled ones (imdb-bert-tuned.yaml), and the same model learns from nothing on the same 500, with the same
pieces (imdb-bert-fresh.yaml): the same seeds and minutes for both, each at the rate that suits it. What counts is the
accuracy on the 5,000 reviews that are held out, of the weights at the end: they choose no weights and no settings,
which other reviews chose (docs/experiments.md), and were not read before. Runs are kept in a folder; what is there
is gone on with, so that it may be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from benchmarks.options import parse
from benchmarks.table import markdown
from regard.cli.options import positive
from regard.runfolder import Run
from regard.training.recipes import make_recipe, read_file
from regard.training.records import read_records
from regard.training.seeds import INTERRUPTED, Spread, best_of, ending, several
from regard.training.session import Recipe, read_recipe, resume, start

RECIPES = Path(__file__).parent.parent / "recipes"
WAYS = {"tuned": "pre-trained, then tuned on 500", "fresh": "from nothing on the same 500"}
THREADS = 2
SMOKE = {"pretrain": 0.2, "minutes": 0.1, "seeds": 1, "held_out": 100}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flow", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=Path, default=Path("runs") / "flow", help="where runs are kept (runs/flow)")
    parser.add_argument("--seeds", type=positive, default=3)
    parser.add_argument("--pretrain", type=float, help="minutes of pre-training, otherwise as the recipe says")
    parser.add_argument("--minutes", type=float, help="minutes of each training after it, otherwise as the recipes say")
    parser.add_argument("--threads", type=positive, default=THREADS, help=f"of each training ({THREADS})")
    parser.add_argument("--held-out", type=positive, help="at most so many reviews to score on")
    return parse(parser, SMOKE, "scores and times")


def recipe(name: str, initial: Path | None, changes: Mapping[str, Any]) -> Recipe:
    """That of a file, begun from the pre-trained run wherever that is."""
    file = RECIPES / f"imdb-bert-{name}.yaml"
    given = {key: value for key, value in changes.items() if value is not None}
    begin = None if initial is None else {**read_file(file)["initial"], "run": str(initial)}
    return make_recipe(read_file(file)["task"]["kind"], {}, file=file, changes=given, initial=begin)


def pretrained(folder: Path, minutes: float | None) -> Run:
    run = Run(folder)
    if not run.exists():
        start(run, recipe("pretrain", None, {"max_minutes": minutes}))
    elif ending(run) in (None, INTERRUPTED):
        resume(run)
    if ending(run) == INTERRUPTED:
        sys.exit("interrupted; the same command goes on")
    return run


def seconds_of(run: Run) -> float:
    return max(record["seconds"] for record in read_records(run.metrics_path) if "seconds" in record)


def cells(spread: Spread, folder: Path) -> list[str]:
    runs = [Run(one) for one in sorted(folder.glob("seed-*"))]
    return [
        f"{100 * spread.mean:.2f}",
        f"{100 * spread.deviation:.2f}",
        ", ".join(f"{100 * value:.2f}" for value in spread.values),
        f"{statistics.mean(seconds_of(run) for run in runs):.0f}",
    ]


def main() -> None:
    given = arguments()
    torch.set_num_threads(given.threads)
    first = pretrained(given.runs / "pretrained", given.pretrain)
    found: dict[str, Spread] = {}
    for name in WAYS:
        changes = {"max_minutes": given.minutes, "task.valid.count": given.held_out}
        reached = several(given.runs / name, recipe(name, first.path, changes), given.seeds)
        if reached is None:
            sys.exit("interrupted; the same command goes on")
        found[name] = reached["accuracy"]
    words = best_of(first, read_recipe(first))
    print(f"\npre-training: {seconds_of(first):.0f} s, a hidden word is found with a loss of {words['loss']:.3f}\n")
    rows = [[title, *cells(found[name], given.runs / name)] for name, title in WAYS.items()]
    print(markdown(["a small BERT", "accuracy, mean", "deviation", "by seed", "seconds of training"], rows))
    pairs = list(zip(found["tuned"].values, found["fresh"].values, strict=True))
    better = sum(mine > other for mine, other in pairs)
    gain = 100 * (found["tuned"].mean - found["fresh"].mean)
    print(f"\npre-training gains {gain:.2f} points; better with {better} of {len(pairs)} seeds")
    if given.out:
        plain = {name: {"accuracy": spread.values} for name, spread in found.items()}
        given.out.write_text(
            json.dumps({"pretrained": {"seconds": seconds_of(first), **words}, **plain}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
