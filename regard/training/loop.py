"""The training loop: one for every task and model. Resuming continues to the same losses, bit for bit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regard.checkpoint import Run, write_tensors
from regard.config import ConfigError, nearest
from regard.data.batches import Batches, Indices
from regard.fast.device import autocast, put_random_state, random_state
from regard.models import Model
from regard.nn.gathering import gathering
from regard.nn.lowrank import merged
from regard.tasks.base import Task
from regard.training.health import TrainingError, check_losses, check_weights, last_good, mean
from regard.training.optimisers import scale_rates
from regard.training.place import Place
from regard.training.records import INTERRUPTED, Listen
from regard.training.settings import Training
from regard.training.state import Progress, TrainingState
from regard.training.strategy import Groups, Strategy, StrategyError, Summed

PACE_STEPS = 10  # after so many a run that ends by the clock knows its pace
RECORD_STEPS = 10  # between two records; on an accelerator the loop waits for the device only for a record


@dataclass
class Latest:
    """The steps since the last record."""

    losses: list[Summed] = field(default_factory=list)
    batches: list[Groups] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return sum(count for _, count in self.losses)


class Trainer:
    """Trains a model on a task into a run folder, from where its `state` stands."""

    def __init__(
        self,
        run: Run,
        task: Task[Any],
        model: Model,
        config: Training,
        batches: Batches,
        strategy: Strategy,
        listen: Listen,
    ) -> None:
        self.run, self.task, self.model, self.config = run, task, model, config
        self.batches, self.strategy, self.listen = batches, strategy, listen
        self.metric = config.metric or next(iter(task.metrics))
        if self.metric not in task.metrics:
            known = nearest(self.metric, task.metrics)
            raise ConfigError(f"training.metric: these examples give no {self.metric!r}: {known}")
        self.device = next(model.parameters()).device
        self.autocast = autocast(model, config.precision)
        strategy.begin(model, self.loss)  # before optimisers and averages, which keep hold of the weights
        self.optimisers = config.optimiser.build(model)
        self.average = config.average.build(model)
        self.state = TrainingState(model, self.optimisers, self.average, Progress())
        self.place = Place(run.path)
        self.interrupted = 0  # the number of a signal: the run ends after the step under way

    @property
    def progress(self) -> Progress:
        return self.state.progress

    # --- the loop ---

    def train(self) -> Progress:
        """Train until there is a reason to end; then a checkpoint is left."""
        self.model.train()
        began = time.monotonic() - self.progress.seconds
        latest, steps, ending = Latest(), self.steps(), self.ending()  # a resumed run may be over already
        with closing(self.strategy):
            while not ending:
                epoch, position, groups = next(steps)
                step_began = time.monotonic()
                latest.losses.append(self.step(groups))
                latest.batches.append(groups)
                now = time.monotonic()
                latest.seconds += now - step_began
                progress = self.progress
                progress.epoch, progress.step_in_epoch, progress.seconds = epoch, position, now - began
                ending = self.strategy.agreed(self.ending())
                validates = bool(ending) or progress.step % self.config.validate_every == 0
                if validates or progress.step % RECORD_STEPS == 0:
                    self.tell(latest)
                    latest = Latest()
                if validates:
                    self.judge()
                    ending = ending or self.strategy.agreed(self.ending())
                if ending:
                    self.listen({"event": "end", "step": progress.step, "reason": ending, "seconds": progress.seconds})
        return self.progress

    def steps(self) -> Iterator[tuple[int, int, Groups]]:
        """(epoch, next step in it, the batches of one optimiser step), from where the run stands, without end."""
        groups: list[Indices] = []
        for epoch, step, indices in self.batches.iterate(self.progress.epoch, self.progress.step_in_epoch):
            groups.append(indices)
            if len(groups) == self.config.accumulate:
                yield epoch, step + 1, groups
                groups = []

    def step(self, groups: Groups) -> Summed:
        """One optimiser step over some batches; returns their summed loss and the number of tokens."""
        try:
            loss, count = self.strategy.backward(groups)
        except StrategyError as error:
            raise TrainingError(f"{error}, at step {self.progress.step + 1}; {last_good(self.run)}") from None
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        torch._foreach_div_(gradients, count)  # of the mean over all tokens
        if self.config.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.progress.step += 1
        scale_rates(self.optimisers, self.config.schedule.factor(self.progress.step, self.planned()))
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        self.average.update(self.progress.step)
        return loss, count

    def loss(self, indices: Indices) -> tuple[Tensor, int]:
        """The summed loss of some training examples, with what layers add to it, and over how many tokens it is."""
        with self.autocast, gathering(self.model) as extra:
            loss, count = self.task.loss(self.model, indices)
            return loss + extra.total() * count, count

    def planned(self) -> int:
        """How many steps the run will have: all of them, or as many as fit into its time at the pace so far."""
        minutes, done, seconds = self.config.max_minutes, self.progress.step - 1, self.progress.seconds
        if minutes is None or done < PACE_STEPS or not seconds:
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

    def tell(self, latest: Latest) -> None:
        """A record of the latest steps; a loss that is no number is found before it is saved."""
        progress = self.progress
        if progress.first_loss is None:
            progress.first_loss = mean(latest.losses)
        check_losses(self.run, latest.losses, latest.batches, progress.step, progress.first_loss)
        self.listen(
            {
                "event": "step",
                "step": progress.step,
                "planned": self.planned(),
                "epoch": progress.epoch,
                "loss": mean(latest.losses),
                "rate": self.optimisers[-1].param_groups[0]["lr"],
                "tokens_per_second": latest.tokens / max(latest.seconds, 1e-9),
                "seconds_per_step": latest.seconds / len(latest.losses),
                "seconds": progress.seconds,
            }
        )

    def judge(self) -> None:
        """Validate and save. A run that was told to end is saved first: a second signal would end it at once."""
        if self.strategy.writes:
            check_weights(self.run, self.model, self.progress.step)
            if self.interrupted:
                self.save()
            self.validate()
            self.save()
        self.state.progress = self.strategy.agreed(self.progress)

    def validate(self) -> None:
        """On held-out examples, by the averaged weights, which are kept if they are the best so far."""
        progress, task = self.progress, self.task
        random = random_state(self.device)
        self.model.eval()
        with self.average.applied():
            result = task.validate(self.model)
            probes = task.probes(self.model)
        self.model.train()
        put_random_state(random)
        self.place.check()
        self.run.write_probes(progress.step, probes)
        due = not self.interrupted or progress.step % self.config.validate_every == 0
        if progress.judge(result.metrics, self.metric, task.metrics[self.metric], due):
            weights = merged(self.model, self.average.weights())
            write_tensors(self.run.weights_path, weights, {"step": str(progress.step)})
        self.listen(
            {
                "event": "validation",
                "step": progress.step,
                "metrics": result.metrics,
                "best": progress.best,
                "best_step": progress.best_step,
                "samples": result.samples,
                "seconds": progress.seconds,
            }
        )

    def save(self) -> None:
        self.place.check()
        self.state.save(self.run, self.config.keep_checkpoints)
