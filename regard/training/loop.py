"""The training loop: one for every task and model. Resuming continues to the same losses, bit for bit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from regard.data.batches import Batches, Indices
from regard.fast.device import autocast
from regard.fast.operators import divide_each
from regard.models import Model
from regard.nn.call.gathering import gathering
from regard.tasks.base import Task
from regard.training.optimisers import scale_rates
from regard.training.progress import INTERRUPTED, Progress
from regard.training.settings import Training
from regard.training.strategy import Groups, Strategy, StrategyError, Summed

PACE_STEPS = 10  # after so many a run that ends by the clock knows its pace
RECORD_STEPS = 10  # between two records; on an accelerator the loop waits for the device only for a record


@dataclass
class Latest:
    """The steps since the last record."""

    losses: list[Summed] = field(default_factory=list)
    batches: list[Groups] = field(default_factory=list)
    seconds: float = 0.0


class Loop:
    """Steps, one after the other, until there is a reason to end. The trainer, which has a run folder to write into,
    says what `tell`, `judge` and `end` do."""

    def __init__(self, task: Task[Any], model: Model, config: Training, batches: Batches, strategy: Strategy) -> None:
        self.task, self.model, self.config, self.batches, self.strategy = task, model, config, batches, strategy
        self.autocast = autocast(model, config.precision)
        strategy.begin(model, self.loss)  # before optimisers and averages, which keep hold of the weights
        self.optimisers = config.optimiser.build(model)
        self.average = config.average.build(model)
        self.progress = Progress()
        self.interrupted = 0  # the number of a signal: the run ends after the step under way

    def train(self) -> Progress:
        """Train until there is a reason to end; the last step is told, judged and saved."""
        self.model.train()
        began = time.monotonic() - self.progress.seconds
        latest, steps, ending = Latest(), self.steps(), self.ending()  # a resumed run may be over already
        with closing(self.strategy):
            while not ending:
                epoch, position, groups = next(steps)
                step_began = time.monotonic()
                try:
                    latest.losses.append(self.step(groups))
                except StrategyError as error:
                    raise self.explained(error) from None
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
                    self.end(ending)
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
        loss, count = self.strategy.backward(groups)
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        divide_each(gradients, count)  # now they are those of the mean over all tokens
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
        """How many steps the run will have: all of them, or as many as fit into its time at the pace so far, with the
        one under way."""
        minutes, done, seconds = self.config.max_minutes, self.progress.step - 1, self.progress.seconds
        if minutes is None or done < PACE_STEPS or not seconds:
            return self.config.max_steps
        return min(self.config.max_steps, max(int(done * 60 * minutes / seconds), self.progress.step))

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

    def tell(self, latest: Latest) -> None:
        """Called every few steps, with all since the last call."""

    def judge(self) -> None:
        """Called when a validation is due, and at the end."""

    def end(self, reason: str) -> None:
        """Called after the last step."""

    def explained(self, error: StrategyError) -> Exception:
        """What is raised where a process could not do its share."""
        return error
