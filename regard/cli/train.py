"""`regard train`: from files of sentences to a run folder."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.options import read_changes

FILES = ("train", "valid")
RECIPE = (  # options that decide the recipe
    *("preset", "config", "data", "languages", "columns"),
    *(name + side for name in FILES for side in ("", "_source", "_target")),
)


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "train",
        help="train a model on your own files",
        description="Train a model for a task, into a new run folder. Progress goes to stderr.",
        epilog="Any field of the recipe is an option: --max-steps 5000, --batch-tokens 2048, --rate 0.002, "
        "--dropout 0.3, --model.decoder.layers 2, --optimiser muon, --tokenizer unigram, --pieces 8000.\n\n"
        "examples:\n"
        "  regard train translate --train train.tsv --valid valid.tsv --run runs/my\n"
        "  regard train translate --train-source a.en --train-target a.de \\\n"
        "      --valid-source v.en --valid-target v.de --run runs/my --seed 2\n"
        "  regard train translate --data phrasebook --run runs/phrases --max-minutes 2\n"
        "  regard train translate --run runs/my --resume\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("task", choices=("translate",), metavar="TASK", help="translate")
    verb.add_argument("--run", required=True, metavar="DIR", help="the folder to write; it must not exist")
    verb.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    verb.add_argument("--preset", metavar="NAME", default=None, help="the model (default translator)")
    verb.add_argument("--config", metavar="FILE", help="a recipe in YAML; options win over it")
    for name in FILES:
        verb.add_argument(f"--{name}", metavar="FILE", help=f"{name} pairs: TSV, JSONL or CSV, .gz too")
        verb.add_argument(f"--{name}-source", metavar="FILE", help="the source side of two parallel files")
        verb.add_argument(f"--{name}-target", metavar="FILE", help="the target side of two parallel files")
    verb.add_argument("--data", metavar="NAME", help="a named data set instead of files: phrasebook, multi30k, tatoeba")
    verb.add_argument("--languages", metavar="en-fr", help="the languages of a named data set")
    verb.add_argument("--columns", metavar="SOURCE,TARGET", help="the columns of JSONL and CSV files")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.checkpoint import Run
    from regard.training.recipes import make_recipe
    from regard.training.session import resume, start

    folder = Run(options.run)
    if options.resume:
        given = [f"--{name.replace('_', '-')}" for name in RECIPE if getattr(options, name) is not None]
        if given + rest:
            raise ValueError(f"option {(given + rest)[0]} cannot be changed when resuming")
        progress = resume(folder)
    else:
        columns = options.columns.split(",") if options.columns else None
        data = {name: fields for name in FILES if (fields := pair_data(options, name, columns))}
        progress = start(folder, make_recipe(options.task, data, options.preset, options.config, read_changes(rest)))
    if progress.best is None:
        print(
            f"stopped at step {progress.step:,}; go on with: regard train {options.task} --run {options.run} --resume"
        )
        return
    metrics = "  ".join(f"{name} {value:.2f}" for name, value in progress.metrics.items())
    print(f"{options.run}: step {progress.step:,}  {metrics}  (best at step {progress.best_step:,})")


def pair_data(options: argparse.Namespace, name: str, columns: list[str] | None) -> dict[str, Any]:
    """The fields of `PairData` that the options name."""
    file = getattr(options, name)
    source, target = getattr(options, f"{name}_source"), getattr(options, f"{name}_target")
    data: dict[str, Any] = {"file": file, "source": source, "target": target}
    if options.data and file is None and source is None:
        data |= {"name": options.data, "languages": options.languages, "split": name}
    if columns:
        data["columns"] = columns
    return {key: value for key, value in data.items() if value is not None}
