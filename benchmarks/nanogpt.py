"""Characters of tiny Shakespeare beside nanoGPT's CPU recipe: `python -m benchmarks.nanogpt --nanogpt FOLDER`.

nanoGPT trains first: 4 layers, width 128, 64 characters in sight, batches of 12, 2,000 steps, as its README says. Then
`recipes/tinyshakespeare-char-quick.yaml` trains in a fifth of the time that nanoGPT took, and
`recipes/tinyshakespeare-char.yaml` in all of it. How many steps fit is found by a few timed ones. Time counts from the
first step, estimates of the loss included, and both sides estimate it alike: over 20 batches of 12 windows of 64
characters at random places of the last tenth of the text. At the end ours is estimated once more, outside of the time,
over ten times as many.

FOLDER is a checkout of github.com/karpathy/nanoGPT, which is not part of this repository; REGARD_DATA holds the text.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from benchmarks.options import parse
from benchmarks.table import markdown
from regard.data.files import locate
from regard.models import Model, TextWriter
from regard.runfolder import Run
from regard.tasks.base import Validation
from regard.tasks.language.task import LanguageTask
from regard.training.recipes import make_recipe
from regard.training.session import make_trainer
from regard.training.trainer import Trainer

RECIPES = Path(__file__).parent.parent / "recipes"
QUICK, LONG = RECIPES / "tinyshakespeare-char-quick.yaml", RECIPES / "tinyshakespeare-char.yaml"
LENGTH, ROWS, BATCHES = 64, 12, 20  # of an estimate, as nanoGPT's CPU recipe has it
THREADS = 2
SOONER, BETTER = 5, 1.62  # times; nats a character
WARM, TIMED = 5, 20  # steps
SMOKE = {"steps": 20, "seeds": 1}
SAID = re.compile(r"step (\d+): train loss [\d.]+, val loss ([\d.]+)")


@dataclass(frozen=True)
class Reached:
    """What was estimated, in order: seconds since the first step, and loss."""

    name: str
    estimates: list[tuple[float, float]]
    final: float

    @property
    def seconds(self) -> float:
        return self.estimates[-1][0]

    def first_at(self, loss: float) -> float | None:
        """After how many seconds a loss was reached."""
        return next((seconds for seconds, found in self.estimates if found <= loss), None)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nanogpt", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nanogpt", type=Path, required=True, metavar="FOLDER", help="a checkout of nanoGPT")
    parser.add_argument("--steps", type=int, default=2000, help="of nanoGPT (default 2000, as published)")
    parser.add_argument("--seeds", type=int, default=1, help="how often ours trains")
    return parse(parser, SMOKE, "all estimates")


def nanogpt(folder: Path, steps: int) -> Reached:
    """In a copy, with the text in the files that its data loader maps."""
    with TemporaryDirectory() as temporary:
        home = Path(temporary) / "nanoGPT"
        shutil.copytree(folder, home, ignore=shutil.ignore_patterns(".git", "assets", "*.ipynb"))
        text = locate("tinyshakespeare", "input.txt").read_text(encoding="utf-8")
        letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
        ids = np.array([letters[letter] for letter in text], dtype=np.uint16)
        cut = int(len(ids) * 0.9)
        data = home / "data" / "shakespeare_char"
        for name, part in (("train.bin", ids[:cut]), ("val.bin", ids[cut:])):
            part.tofile(data / name)
        meta = {"vocab_size": len(letters), "stoi": letters, "itos": {i: letter for letter, i in letters.items()}}
        (data / "meta.pkl").write_bytes(pickle.dumps(meta))
        options = {"device": "cpu", "compile": False, "eval_iters": BATCHES, "log_interval": 1000, "block_size": LENGTH}
        options |= {"batch_size": ROWS, "n_layer": 4, "n_head": 4, "n_embd": 128, "dropout": 0.0}
        options |= {"max_iters": steps, "lr_decay_iters": steps}
        command = [sys.executable, "-u", "train.py", "config/train_shakespeare_char.py"]
        command += [f"--{name}={value}" for name, value in options.items()]
        with subprocess.Popen(
            command, cwd=home, env=os.environ | {"OMP_NUM_THREADS": str(THREADS)}, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            begun, estimates = None, []
            for line in process.stdout:
                if line.startswith("found vocab_size"):  # the model is about to be made
                    begun = time.monotonic()
                if (said := SAID.match(line)) and begun is not None:
                    estimates.append((time.monotonic() - begun, float(said[2])))
                    print(f"nanoGPT: {said[0]} after {estimates[-1][0]:.1f} s", file=sys.stderr)
        if process.returncode or not estimates:
            raise RuntimeError(f"nanoGPT ended with code {process.returncode}")
    return Reached("nanoGPT", estimates, estimates[-1][1])


@torch.no_grad()
def estimate(task: LanguageTask, model: Model, batches: int, seed: int) -> float:
    """As nanoGPT's `estimate_loss`: windows at random places, each read with nothing before it."""
    writer, random = model, np.random.default_rng(seed)
    assert isinstance(writer, TextWriter)
    losses = []
    for _ in range(batches):
        starts = random.integers(len(task.valid) - LENGTH, size=(ROWS, 1))
        window = torch.from_numpy(task.valid[starts + np.arange(LENGTH + 1)].astype(np.int64))
        losses.append(float(writer.head.loss(writer.features(window[:, :-1]), window[:, 1:])))
    return float(np.mean(losses))


class Estimated(LanguageTask):
    """The task, validated as nanoGPT does it."""

    def validate(self, model: Model) -> Validation:
        loss = estimate(self, model, BATCHES, seed=int(time.monotonic_ns() % 2**32))
        return Validation({"bits_per_byte": loss, "perplexity": loss, "loss": loss})

    def probes(self, model: Model) -> list[bytes]:
        return []


def trainer(path: Path, folder: Path, changes: dict[str, Any], listen: Any) -> Trainer:
    recipe = make_recipe("lm", {}, None, path, {"validated": None, "device": "cpu", **changes})
    torch.manual_seed(recipe.training.seed)
    task = Estimated(recipe.task, folder, lambda _: None)  # type: ignore[arg-type]
    model = replace(recipe, model=task.fit(recipe.model)).model.build().train()
    return make_trainer(Run(folder), task, model, recipe.training, listen)


def seconds_a_step(recipe: Path, folder: Path) -> float:
    return pace(trainer(recipe, folder, {}, lambda _: None), WARM, TIMED, time.monotonic)


def pace(trainer: Trainer, warm: int, timed: int, clock: Callable[[], float]) -> float:
    """Seconds of a step by a clock, over so many of them behind some that warm up."""
    batches = trainer.batches.epoch(0)
    for batch in batches[:warm]:
        trainer.step([batch])
    begun = clock()
    for batch in batches[warm : warm + timed]:
        trainer.step([batch])
    return (clock() - begun) / timed


def ours(name: str, recipe: Path, folder: Path, budget: float, seed: int) -> Reached:
    """As many steps as fit into so many seconds, with some of them left for estimates."""
    steps = max(int(0.93 * budget / seconds_a_step(recipe, folder / "timing")), 10)
    estimates: list[tuple[float, float]] = []

    def listen(record: dict[str, Any]) -> None:
        if record["event"] == "validation":
            estimates.append((record["seconds"], record["metrics"]["loss"]))
            print(f"{name}: step {record['step']}, {estimates[-1]}", file=sys.stderr)

    changes = {"max_steps": steps, "validate_every": max(steps // 12, 1), "seed": seed, "max_minutes": budget / 60}
    found = trainer(recipe, folder / "run", changes, listen)
    found.train()
    found.model.eval()
    with found.average.applied():
        final = estimate(found.task, found.model, 10 * BATCHES, seed=1)  # type: ignore[arg-type]
    parameters = sum(parameter.numel() for parameter in found.model.parameters())
    assert parameters <= 810_000, parameters
    return Reached(f"{name}, {found.progress.step:,} steps, {parameters / 1e6:.2f}M", estimates, final)


def main() -> None:
    given = arguments()
    torch.set_num_threads(THREADS)
    theirs = nanogpt(given.nanogpt, given.steps)
    found = [theirs]
    with TemporaryDirectory() as temporary:
        for seed in range(1, given.seeds + 1):
            for name, recipe, budget in (("a fifth", QUICK, theirs.seconds / SOONER), ("all", LONG, theirs.seconds)):
                folder = Path(temporary) / f"{recipe.stem}-{seed}"
                found.append(ours(f"regard in {name} of its time, seed {seed}", recipe, folder, budget, seed))
    columns = ["", "seconds", f"until {theirs.final:.3f}", "times sooner", "loss at the end"]
    rows = []
    for one in found:
        first = one.first_at(theirs.final)
        sooner = ["–", "–"] if first is None else [f"{first:.1f} s", f"{theirs.seconds / first:.1f}"]
        rows.append([one.name, f"{one.seconds:.1f}", *sooner, f"{one.final:.3f}"])
    print(markdown(columns, rows))
    print(f"\nwanted: {SOONER} times sooner, and {BETTER} or less in its time")
    if given.out:
        records = [{"name": one.name, "estimates": one.estimates, "final": one.final} for one in found]
        given.out.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
