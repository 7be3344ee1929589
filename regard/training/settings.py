"""How to train: the fields of a recipe's section `training`."""

from __future__ import annotations

from dataclasses import dataclass

from regard.config import Config, Count, Positive, Size
from regard.fast.device import DeviceName, Precision
from regard.training.averaging import AverageConfig, Exponential
from regard.training.optimisers import AdamW, OptimiserConfig
from regard.training.schedules import InverseRoot, ScheduleConfig


@dataclass(frozen=True)
class Training(Config):
    """How to train. A run ends at `max_steps`, after `max_minutes`, or when `patience` validations in a row were no
    better than the best (0: never). What is better is told by `metric`, the task's own unless named; where two are
    equal in it, by the lower loss. Where time ends a run, the schedule falls by the clock: a run that is resumed then
    follows its pace, no longer step by step the same rates.

    `precision` is that of matrix products: `auto` takes bf16 only on a device that gains from it. `processes` share out
    each batch; unless told, one for each core of a CPU where a batch is large enough. `compile` lets torch compile the
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
