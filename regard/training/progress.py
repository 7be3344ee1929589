"""Where a run stands: all that is not a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

INTERRUPTED = "interrupted"  # why a run ended that was told to


@dataclass
class Progress:
    """Kept in each checkpoint as JSON."""

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
