"""Which rate to learn at: raise it step by step until the loss breaks away. Smith 2017, arXiv:1506.01186"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from regard.fast import choose_device
from regard.runfolder import Run
from regard.training.schedules import Rise
from regard.training.session import Recipe, begin, make_trainer
from regard.training.trainer import Trainer

SMOOTH = 0.9  # of the loss before, in the loss that is judged
BROKEN = 1.3  # times the lowest loss
BELOW = 3.0  # the advice is so much below the rate of the lowest loss


@dataclass(frozen=True)
class RateTrial:
    """One step: the factor of the recipe's rates, its loss, and the smoothed one."""

    factor: float
    loss: float
    smooth: float


@dataclass(frozen=True)
class Advice:
    """What was tried, and the rates of the optimiser that are advised, by the names of its fields."""

    trials: list[RateTrial]
    rates: dict[str, float]


def find_rate(recipe: Recipe, steps: int, say: Callable[[str], None]) -> Advice:
    """Train for a few steps at rising rates; nothing is kept."""
    with TemporaryDirectory(prefix="regard-rates-") as folder:
        found = list(rising(recipe, steps, Path(folder) / "run", say))
    lowest = min(found, key=lambda trial: trial.smooth)
    optimiser = recipe.training.optimiser
    named = [field.name for field in fields(optimiser) if field.name.endswith("rate")]
    return Advice(found, {name: getattr(optimiser, name) * lowest.factor / BELOW for name in named})


def rising(recipe: Recipe, steps: int, folder: Path, say: Callable[[str], None]) -> Iterator[RateTrial]:
    """The trials up to where the loss breaks away."""
    training = replace(recipe.training, schedule=Rise(), max_steps=steps)
    torch.manual_seed(training.seed)
    folder.mkdir()
    task, recipe, model = begin(Run(folder), replace(recipe, training=training), say)
    trainer = make_trainer(Run(folder), task, model.to(choose_device(training.device)).train(), training)
    with closing(trainer.strategy):
        yield from trials(trainer, steps, say)


def trials(trainer: Trainer, steps: int, say: Callable[[str], None]) -> Iterator[RateTrial]:
    schedule = trainer.config.schedule
    smooth, best, weight = 0.0, math.inf, 0.0
    for step, (_, _, groups) in zip(range(1, steps + 1), trainer.steps(), strict=False):
        total, count = trainer.step(groups)
        loss = float(total) / count
        smooth, weight = SMOOTH * smooth + (1 - SMOOTH) * loss, SMOOTH * weight + 1 - SMOOTH
        if not math.isfinite(loss) or (step > steps // 10 and smooth / weight > BROKEN * best):
            return
        best = min(best, smooth / weight)
        yield RateTrial(schedule.factor(step, steps), loss, smooth / weight)
        if step % 10 == 0:
            say(f"rate × {schedule.factor(step, steps):.3g}: loss {smooth / weight:.3f}")
