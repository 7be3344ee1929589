"""The training loop: one for every task and model. Resuming continues to the same losses, bit for bit."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.checkpoint import (
    Run,
    RunError,
    put_weights,
    read_json,
    read_tensors,
    running,
    weights_of,
    write_tensors,
    write_text,
)
from regard.config import Config, ConfigError, Count, Positive, Size, nearest
from regard.errors import Error
from regard.fast import plain, quicken
from regard.fast.device import DeviceName, Precision, autocast, put_random_state, random_state
from regard.models import Model
from regard.nn.losses import gathering
from regard.nn.lowrank import merged
from regard.nn.stacks import StackLayers
from regard.tasks.base import Task
from regard.training.averaging import AverageConfig, Exponential
from regard.training.crew import Crew, HelperError, shares_of
from regard.training.optimisers import AdamW, OptimiserConfig, put_state, scale_rates, state_tensors
from regard.training.records import INTERRUPTED, Listen
from regard.training.schedules import InverseRoot, ScheduleConfig

EXPLODED = 3  # times the first loss, or times 1 where that was smaller: what is tuned may begin near 0
PACED = 10  # steps after which a run that ends by the clock knows its pace
Groups = list["np.ndarray[Any, Any]"]  # the batches of one optimiser step, each by the numbers of its examples
TOLD_EVERY = 10  # steps between records; on other devices a record is also where the loop waits for a number


@dataclass(frozen=True)
class Training(Config):
    """How to train. A run ends at `max_steps`, after `max_minutes`, or when `patience` validations in a row were no
    better than the best (0: never) by `metric`, the task's own unless named. Where time ends it, the schedule falls by
    the clock: a run that is resumed then follows its pace, no longer step by step the same rates.

    `precision` is that of matrix products: bf16 by itself only on a device that gains from it. `processes` share out
    each batch, by themselves one for each core of a CPU where a batch is large enough. `compile` lets torch compile the
    layers: a minute or more at first, worth it for long runs on an accelerator.
    """

    seed: int = 1
    batch_tokens: Size = 4096
    accumulate: Size = 1
    max_steps: Size = 3000
    max_minutes: Positive | None = None
    validate_every: Size = 500
    patience: Count = 0
    metric: str | None = None
    clip: Positive | None = 1.0
    optimiser: OptimiserConfig = AdamW()
    schedule: ScheduleConfig = InverseRoot()
    average: AverageConfig = Exponential()
    keep_checkpoints: Size = 2
    device: DeviceName = "auto"
    precision: Precision = "auto"
    processes: Size | None = None
    compile: bool = False
    tensorboard: bool = False


class TrainingError(Error):
    """Training cannot go on; the message says at which step and from where to resume."""


@dataclass
class Progress:
    """Where a run stands: all that is not a tensor."""

    step: int = 0
    epoch: int = 0
    step_in_epoch: int = 0
    seconds: float = 0.0
    first_loss: float | None = None
    best: float | None = None
    best_step: int = 0
    no_better: int = 0
    metrics: dict[str, float] = field(default_factory=dict)


class Trainer:
    """Trains a model on a task into a run folder, from the newest whole checkpoint if there is one."""

    def __init__(self, run: Run, task: Task, model: Model, config: Training, listen: Listen) -> None:
        self.run, self.task, self.model, self.config, self.listen = run, task, quicken(model), config, listen
        self.metric = config.metric or next(iter(task.metrics))
        if self.metric not in task.metrics:
            known = nearest(self.metric, task.metrics)
            raise ConfigError(f"training.metric: these examples give no {self.metric!r}: {known}")
        self.device = next(model.parameters()).device
        self.autocast = autocast(model, config.precision)
        if config.compile:
            compile_stacks(model)
        self.batches = task.batches(config.batch_tokens, config.seed)
        # First of those that hold weights: it moves them to where helpers see them.
        alone = 1 if config.compile else None  # each process would compile for itself
        self.crew = Crew(model, self.backward, shares_of(self.batches, model, config.processes or alone))
        self.optimisers = config.optimiser.build(model)
        self.average = config.average.build(model)
        self.progress = Progress()
        self.interrupted = False

    # --- the loop ---

    def train(self) -> Progress:
        """Train to the end, or until `interrupted` is set; either way a checkpoint is left."""
        try:
            if not self.ending():  # or it was resumed at its end
                self.go_on()
        finally:
            self.crew.close()
        return self.progress

    def go_on(self) -> None:
        """Step by step."""
        progress = self.progress
        self.model.train()
        started, before = time.monotonic(), progress.seconds
        spent, tokens, told = 0.0, 0, progress.step
        losses: list[tuple[Tensor, int]] = []
        batches: list[Groups] = []
        for epoch, step_in_epoch, groups in self.steps():
            begun = time.monotonic()
            loss, count = self.step(groups)
            losses.append((loss, count))
            batches.append(groups)
            progress.epoch, progress.step_in_epoch = epoch, step_in_epoch
            spent, tokens = spent + time.monotonic() - begun, tokens + count
            progress.seconds = before + time.monotonic() - started
            ending = self.ending()
            due = progress.step % self.config.validate_every == 0 or ending
            if progress.step % TOLD_EVERY == 0 or due:  # a loss that is no number must be found before it is saved
                self.check_losses(losses, batches)
                self.tell(losses, spent / max(progress.step - told, 1), tokens / max(spent, 1e-9))
                spent, tokens, told, losses, batches = 0.0, 0, progress.step, [], []
            if due:
                self.check_weights()
                if not self.interrupted:
                    self.validate()
                self.save()
                ending = ending or self.ending()
            if ending:
                self.listen({"event": "end", "step": progress.step, "reason": ending, "seconds": progress.seconds})
                break

    def steps(self) -> Any:
        """(epoch, next step in it, the batches of one optimiser step), from where the run stands, without end."""
        groups: Groups = []
        for epoch, step, indices in self.batches.iterate(self.progress.epoch, self.progress.step_in_epoch):
            groups.append(indices)
            if len(groups) == self.config.accumulate:
                yield epoch, step + 1, groups
                groups = []

    def step(self, groups: Groups) -> tuple[Tensor, int]:
        """One optimiser step over some batches; returns their summed loss and the number of tokens."""
        try:
            loss, count = self.gradients(groups)
        except HelperError as error:
            raise TrainingError(f"{error}, at step {self.progress.step + 1}; {self.last_good()}") from None
        if self.config.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.progress.step += 1
        scale_rates(self.optimisers, self.config.schedule.factor(self.progress.step, self.planned()))
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        self.average.update(self.progress.step)
        return loss, count

    def gradients(self, groups: Groups) -> tuple[Tensor, int]:
        """Of the mean over all tokens of some batches: those of the sums add up, then are divided."""
        total, count = self.crew.backward(groups[0])
        for indices in groups[1:]:
            loss, tokens = self.crew.backward(indices)
            total, count = total + loss, count + tokens
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        torch._foreach_div_(gradients, count)
        return total, count

    def backward(self, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The summed loss of some examples and their tokens; its gradient is left with the parameters."""
        with self.autocast, gathering(self.model) as extra:
            loss, count = self.task.loss(self.model, indices)
            loss = loss + extra.total() * count
        torch.autograd.backward(loss)
        return loss.detach(), count

    def planned(self) -> int:
        """How many steps the run will have: all of them, or as many as fit into its time at the pace so far."""
        minutes, done, seconds = self.config.max_minutes, self.progress.step - 1, self.progress.seconds
        if minutes is None or done < PACED or not seconds:
            return self.config.max_steps
        return min(self.config.max_steps, int(done * 60 * minutes / seconds))

    def ending(self) -> str:
        """Why the run is over, empty while it is not."""
        config, progress = self.config, self.progress
        if self.interrupted:
            return INTERRUPTED
        if progress.step >= config.max_steps:
            return "all steps done"
        if config.max_minutes is not None and progress.seconds >= 60 * config.max_minutes:
            return "time is up"
        if config.patience and progress.no_better >= config.patience:
            return f"no better for {progress.no_better} validations"
        return ""

    # --- telling, validating, saving ---

    def check_losses(self, losses: list[tuple[Tensor, int]], batches: list[Groups]) -> None:
        """Of the latest steps, of which each had these batches."""
        if self.progress.first_loss is None:
            self.progress.first_loss = mean(losses)
        first = self.progress.first_loss
        most = EXPLODED * max(first, 1) if math.isfinite(first) else sys.float_info.max
        if mean(losses) <= most:
            return
        worst = next(i for i, one in enumerate(losses) if not mean([one]) <= most)  # what is no number is not, either
        rows = ", ".join(str(row) for row in batches[worst][-1][:5])
        step = self.progress.step - len(losses) + 1 + worst
        self.fail(f"the loss became {mean(losses[worst : worst + 1]):g} at step {step}, with the examples {rows}, …")

    def tell(self, losses: list[tuple[Tensor, int]], seconds: float, speed: float) -> None:
        rate = self.optimisers[-1].param_groups[0]["lr"]
        self.listen(
            {
                "event": "step",
                "step": self.progress.step,
                "planned": self.planned(),
                "epoch": self.progress.epoch,
                "loss": mean(losses),
                "rate": rate,
                "tokens_per_second": speed,
                "seconds_per_step": seconds,
                "seconds": self.progress.seconds,
            }
        )

    def check_weights(self) -> None:
        """A gradient may be no number where the loss is one; what it spoils must not be saved."""
        if not all(bool(weight.isfinite().all()) for weight in self.model.parameters()):
            self.fail(f"the weights became infinite or no numbers by step {self.progress.step}")

    def fail(self, what: str) -> None:
        raise TrainingError(f"{what}; {self.last_good()}; try a lower rate or a longer warm-up")

    def last_good(self) -> str:
        saved = self.run.checkpoints()
        if not saved:
            return "there is no checkpoint yet"
        return f"the last good checkpoint is {self.run.checkpoint(saved[-1])}"

    def validate(self) -> None:
        progress, task = self.progress, self.task
        random = random_state(self.device)
        self.model.eval()
        with self.average.applied():
            result = task.validate(self.model)
            self.run.write_probes(progress.step, task.probes(self.model))
        self.model.train()
        put_random_state(random)
        value, higher = result.metrics[self.metric], task.metrics[self.metric]
        better = progress.best is None or (value > progress.best if higher else value < progress.best)
        progress.no_better = 0 if better else progress.no_better + 1
        progress.metrics = result.metrics
        if better:
            progress.best, progress.best_step = value, progress.step
            weights = merged(self.model, self.average.weights())
            write_tensors(self.run.weights_path, weights, {"step": str(progress.step)})
        self.listen(
            {
                "event": "validation",
                "step": progress.step,
                "metrics": result.metrics,
                "best": progress.best,
                "samples": result.samples,
                "seconds": progress.seconds,
            }
        )

    def save(self) -> None:
        with self.run.writing_checkpoint(self.progress.step) as folder:
            write_tensors(folder / "model.safetensors", weights_of(self.model))
            if kept := running(self.model):
                write_tensors(folder / "running.safetensors", kept)
            if averaged := self.average.state():
                write_tensors(folder / "average.safetensors", averaged)
            write_tensors(folder / "optimiser.safetensors", state_tensors(self.optimisers, self.model))
            write_tensors(folder / "random.safetensors", random_state(self.device))
            write_text(folder / "progress.json", json.dumps(asdict(self.progress), indent=2) + "\n")
        self.run.forget_checkpoints(self.config.keep_checkpoints)

    def resume(self, step: int) -> None:
        """Continue from a checkpoint as if nothing had happened."""
        folder = self.run.checkpoint(step)
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


def mean(losses: Sequence[tuple[Tensor, int]]) -> float:
    """Over all tokens, of sums and how many each is of."""
    return sum(float(total) for total, _ in losses) / sum(count for _, count in losses)


def read_progress(checkpoint: Path) -> Progress:
    path = checkpoint / "progress.json"
    found, known = read_json(path), [one.name for one in fields(Progress)]
    if found.keys() != set(known):
        raise RunError(f"{path} does not have just {', '.join(known)}: it is damaged, or of another version")
    return Progress(**found)


def compile_stacks(model: Model) -> None:
    """Compile the plain layers in place: names, weights and checkpoints stay what they are."""
    for module in model.modules():
        if isinstance(module, StackLayers):
            plain(module).compile(dynamic=True)
