"""Where a training stands, and how it is saved as a checkpoint and taken up again, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import torch

from regard.checkpoint import (
    Run,
    RunError,
    check_tensors,
    put_weights,
    read_json,
    read_tensors,
    running,
    weights_of,
    write_tensors,
    write_text,
)
from regard.fast.device import put_random_state, random_state
from regard.models import Model
from regard.training.averaging import Average
from regard.training.optimisers import put_state, state_tensors
from regard.training.records import validated

LATER = {"best_loss"}  # fields of `Progress` that checkpoints of earlier versions lack


@dataclass
class Progress:
    """Where a run stands: all that is not a tensor."""

    step: int = 0
    epoch: int = 0
    step_in_epoch: int = 0
    seconds: float = 0.0
    first_loss: float | None = None
    best: float | None = None  # in the metric that chooses the weights
    best_loss: float | None = None  # of the same weights
    best_step: int = 0
    no_better: int = 0  # validations in a row
    metrics: dict[str, float] = field(default_factory=dict)  # of the last validation

    def judge(self, metrics: Mapping[str, float], metric: str, higher: bool, due: bool = True) -> bool:
        """Take note of a validation; whether it is the best so far. Of two that are equal in the metric the one of the
        lower loss is better: a metric may stay at 0 for long at first. A validation that was not `due`, because the run
        was interrupted, costs no patience: it is not counted, nor is the next one where this one was better."""
        value, loss = metrics[metric], metrics.get("loss")
        better = self.best is None or (value > self.best if higher else value < self.best)
        if value == self.best and loss is not None and self.best_loss is not None:
            better = loss < self.best_loss
        self.metrics = dict(metrics)
        if better:
            self.best, self.best_loss, self.best_step = value, loss, self.step
            self.no_better = 0 if due else -1
        elif due:
            self.no_better += 1
        return better


@dataclass
class TrainingState:
    """All that a checkpoint keeps, beside the state of the random generators."""

    model: Model
    optimisers: list[torch.optim.Optimizer]
    average: Average
    progress: Progress

    def save(self, run: Run, keep: int) -> None:
        """As the newest checkpoint of a run, of which `keep` stay."""
        with run.writing_checkpoint(self.progress.step) as folder:
            write_tensors(folder / "model.safetensors", weights_of(self.model))
            if kept := running(self.model):
                write_tensors(folder / "running.safetensors", kept)
            if averaged := self.average.state():
                write_tensors(folder / "average.safetensors", averaged)
            write_tensors(folder / "optimiser.safetensors", state_tensors(self.optimisers, self.model))
            write_tensors(folder / "random.safetensors", random_state(next(self.model.parameters()).device))
            write_progress(folder, self.progress)
        run.forget_checkpoints(keep)

    def load(self, run: Run, step: int) -> None:
        """Continue from a checkpoint of a run as if nothing had happened."""
        folder = run.checkpoint(step)
        put_weights(self.model, read_tensors(folder / "model.safetensors"), str(folder))
        if kept := running(self.model):
            saved = read_tensors(folder / "running.safetensors")
            for name, buffer in kept.items():
                buffer.copy_(saved[name])
        averaged = folder / "average.safetensors"
        if self.average.state() or averaged.exists():  # of some kinds there is nothing yet
            self.average.put_state(read_tensors(averaged))
        put_state(self.optimisers, self.model, read_tensors(folder / "optimiser.safetensors"))
        put_random_state(read_tensors(folder / "random.safetensors"))
        self.progress = read_progress(folder)
        if self.progress.best_loss is None:  # as in checkpoints of earlier versions
            self.progress.best_loss = validated(run.metrics_path, self.progress.best_step).get("loss")


def write_progress(checkpoint: Path, progress: Progress) -> None:
    write_text(checkpoint / "progress.json", json.dumps(asdict(progress), indent=2) + "\n")


def read_progress(checkpoint: Path) -> Progress:
    path = checkpoint / "progress.json"
    found, known = read_json(path), [one.name for one in fields(Progress)]
    if not set(known) - LATER <= found.keys() <= set(known):
        raise RunError(f"{path} does not have just {', '.join(known)}: it is damaged, or of another version")
    return Progress(**found)


def newest_whole(run: Run, say: Callable[[str], None]) -> int | None:
    """The newest checkpoint that can be read, None where there is none yet. They are written as a whole, but a disk may
    lose a part of one later."""
    steps = run.checkpoints()
    for step in reversed(steps):
        try:
            check_files(run.checkpoint(step))
        except RunError as error:
            say(f"the checkpoint of step {step:,} is left out: {error}")
        else:
            return step
    if steps:
        raise RunError(f"no checkpoint of {run.path} can be read: train anew, into another folder")
    return None


def check_files(checkpoint: Path) -> None:
    read_progress(checkpoint)
    for name in ("model", "optimiser", "random"):
        check_tensors(checkpoint / f"{name}.safetensors")
    for path in checkpoint.glob("*.safetensors"):
        check_tensors(path)
