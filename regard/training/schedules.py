"""Learning-rate schedules: a factor of the full rate for every step, a pure function, so that resuming is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regard.config import Count, Part, Positive, Rate


@dataclass(frozen=True)
class ScheduleConfig(Part, family="schedule"):
    """The factor rises from 0 over `warmup` steps, then goes on as the kind says."""

    warmup: Count = 400

    def factor(self, step: int, steps: int) -> float:
        """For step 1, 2, … of `steps` planned ones."""
        if step < self.warmup:
            return step / self.warmup
        return self.after(step, steps)

    def after(self, step: int, steps: int) -> float:
        raise TypeError(f"{type(self).__name__} is a family, not a schedule")


@dataclass(frozen=True)
class Constant(ScheduleConfig, kind="constant"):
    """Stays where the warm-up ends."""

    def after(self, step: int, steps: int) -> float:
        return 1.0


@dataclass(frozen=True)
class InverseRoot(ScheduleConfig, kind="inverse-root"):
    """Falls with the inverse square root of the step; needs no planned end. Vaswani et al. 2017, section 5.3."""

    def after(self, step: int, steps: int) -> float:
        return math.sqrt(max(self.warmup, 1) / step)


@dataclass(frozen=True)
class Cosine(ScheduleConfig, kind="cosine"):
    """Half a cosine, which reaches `floor` one step after the last, so that no step is taken with a rate of 0.
    arXiv:1608.03983"""

    floor: Rate = 0.0

    def after(self, step: int, steps: int) -> float:
        done = min((step - self.warmup) / max(steps + 1 - self.warmup, 1), 1.0)
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True)
class StableDecay(ScheduleConfig, kind="stable-decay"):
    """Stays up, and falls linearly over the last `decay` share of the planned steps; it would be 0 one step after the
    last. arXiv:2404.06395"""

    decay: Rate = 0.3

    def after(self, step: int, steps: int) -> float:
        start = steps * (1 - self.decay)
        if step <= start:
            return 1.0
        return max((steps + 1 - step) / (steps + 1 - start), 0.0)


@dataclass(frozen=True)
class Rise(ScheduleConfig, kind="rise"):
    """Rises without end from `low`, by the same factor each step, up to `high`: it finds where a rate is too much.
    Smith 2017, arXiv:1506.01186"""

    warmup: Count = 0
    low: Positive = 1e-3
    high: Positive = 30.0

    def after(self, step: int, steps: int) -> float:
        return self.low * math.exp(math.log(self.high / self.low) * (step - 1) / max(steps - 1, 1))
