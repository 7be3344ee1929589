"""A training that goes wrong stops at once, and says at which step and from where to go on."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from torch import nn

from regard.errors import Error
from regard.runfolder import Run
from regard.training.strategy import Groups, Summed

EXPLODED = 3  # times the first loss, or times 1 where that was smaller: a model that is tuned may begin near 0


class TrainingError(Error):
    """Training cannot go on; the message says at which step and from where to resume."""


def check_losses(run: Run, losses: Sequence[Summed], batches: Sequence[Groups], last: int, first: float) -> None:
    """Raise `TrainingError` where a loss of the latest steps is no number, or their mean far above the `first` loss.
    Each step had its entry of `batches`; the `last` one has this number."""
    most = EXPLODED * max(first, 1) if math.isfinite(first) else sys.float_info.max
    if mean(losses) <= most:
        return
    worst = next(i for i, one in enumerate(losses) if not mean([one]) <= most)  # true of what is no number, too
    rows = ", ".join(str(row) for row in batches[worst][-1][:5])
    step = last - len(losses) + 1 + worst
    fail(run, f"the loss became {mean([losses[worst]]):g} at step {step}, with the examples {rows}, …")


def check_weights(run: Run, model: nn.Module, step: int) -> None:
    """A gradient may be no number where the loss is one; what it spoils must not be saved."""
    if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
        fail(run, f"the weights became infinite or no numbers by step {step}")


def fail(run: Run, what: str) -> None:
    raise TrainingError(f"{what}; {last_good(run)}; try a lower rate or a longer warm-up")


def last_good(run: Run) -> str:
    saved = run.checkpoints()
    if not saved:
        return "there is no checkpoint yet"
    return f"the last good checkpoint is {run.checkpoint(saved[-1])}"


def mean(losses: Sequence[Summed]) -> float:
    """Over all tokens."""
    return sum(float(total) for total, _ in losses) / sum(count for _, count in losses)
