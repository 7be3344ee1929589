"""Language models of three makes in equal time on tiny Shakespeare: `python -m benchmarks.language` prints a table.

A Transformer, an LSTM and the intra-attention reader learn on one core from the same tokens. How many steps fit into
the time is found first, by a few steps of each, so that the rate of every one falls to nothing just as its time is
over. Time is that of the processor: others may use the machine meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.nanogpt import pace
from benchmarks.options import parse
from benchmarks.table import markdown
from regard.checkpoint import read_tensors
from regard.config import change
from regard.runfolder import Run
from regard.tasks.language.task import LanguageModelling
from regard.training.recipes import make_recipe
from regard.training.session import Recipe, make_trainer, start

DATA = {"train": {"name": "tinyshakespeare"}, "valid": {"name": "tinyshakespeare", "split": "valid"}}
PRESETS = {"writer": "Transformer", "lstm-writer": "LSTM", "lstmn-writer": "LSTMN"}
SHARED: dict[str, Any] = {"pieces": 1024}
WARM, TIMED = 2, 4  # steps
SMOKE = {"minutes": 0.02}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.language", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=3.0, help="of the processor, for each (default 3)")
    parser.add_argument("--runs", type=Path, help="a folder to keep the runs in")
    return parse(parser, SMOKE, "scores and times")


def seconds_a_step(recipe: Recipe, folder: Path) -> float:
    """Of a model as it begins to learn."""
    assert isinstance(recipe.task, LanguageModelling)
    task = recipe.task.open(folder, lambda _: None)
    fitted = replace(recipe, model=task.fit(recipe.model))
    trainer = make_trainer(Run(folder), task, fitted.model.build().train(), recipe.training, lambda _: None)
    return pace(trainer, WARM, TIMED, time.process_time)


def measured(preset: str, folder: Path, minutes: float) -> dict[str, Any]:
    recipe = make_recipe("lm", DATA, preset, changes=SHARED)
    assert isinstance(recipe.task, LanguageModelling)
    second = seconds_a_step(recipe, folder / f"{preset}-timing")
    steps = max(int(60 * minutes / second), 2)
    run = Run(folder / preset)
    begun = time.process_time()
    progress = start(run, change(recipe, {"max_steps": steps, "validate_every": steps, "device": "cpu"}))
    spent = time.process_time() - begun  # reading, validating and the report included
    a_step = recipe.training.batch_tokens // recipe.task.context * recipe.task.context
    print(f"{preset}: {progress.metrics}", file=sys.stderr)
    return {
        "name": f"{PRESETS[preset]} ({preset})",
        **progress.metrics,
        "steps": steps,
        "tokens": steps * a_step,
        "tokens a second": a_step / second,
        "minutes in all": spent / 60,
        "parameters": sum(weight.numel() for weight in read_tensors(run.weights_path).values()),
    }


def main() -> None:
    given = arguments()
    torch.set_num_threads(1)
    with TemporaryDirectory() as temporary:
        folder = given.runs or Path(temporary)
        found = [measured(preset, folder, given.minutes) for preset in PRESETS]
    columns = [
        f"{given.minutes:g} minutes each",
        "bits per byte",
        "perplexity",
        "parameters",
        "tokens seen",
        "tokens/s",
    ]
    rows = [
        [
            one["name"],
            f"{one['bits_per_byte']:.3f}",
            f"{one['perplexity']:.1f}",
            f"{one['parameters'] / 1e6:.2f}M",
            f"{one['tokens'] / 1e6:.2f}M",
            f"{one['tokens a second']:,.0f}",
        ]
        for one in found
    ]
    print(markdown(columns, rows))
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
