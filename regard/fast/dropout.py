"""Dropout whose random numbers do not cost more than the layer they follow.

PyTorch draws one random number per value on a CPU, a fifth to a third of a small model's training step. One 64-bit
draw decides four values here. The rate is rounded to 1/65536 and the kept values are scaled by the rounded rate, so
that the expectation is exact. Other devices take PyTorch's own dropout.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from regard.nn.dropout import Dropout

LEVELS = 1 << 16

_generator: ContextVar[torch.Generator | None] = ContextVar("generator", default=None)


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Let dropout draw from `generator` in this thread, so that threads sharing a model stay repeatable."""
    token = _generator.set(generator)
    try:
        yield
    finally:
        _generator.reset(token)


def keep_scale(like: Tensor, rate: float) -> Tensor:
    """A tensor like `like` with 0 at the given rate and 1 / (1 - rate) elsewhere."""
    count = like.numel()
    words = torch.empty((count + 3) // 4, dtype=torch.int64)
    words.random_(-(2**63), None, generator=_generator.get())
    draws = words.view(torch.int16)[:count].view(like.shape)
    dropped = min(max(round(rate * LEVELS), 1), LEVELS - 1)
    lowest = dropped - LEVELS // 2  # of the draws that keep a value
    # Leaves 0 below `lowest` and 1 from it on; comparing and converting the result takes twice as long.
    keep = draws.clamp_(lowest - 1, lowest).sub_(lowest - 1).to(like.dtype)
    return keep.mul_(LEVELS / (LEVELS - dropped))


class FastDropout(Dropout):
    def forward(self, x: Tensor) -> Tensor:
        if not self.active:
            return x
        return x * keep_scale(x, self.rate) if x.device.type == "cpu" else super().forward(x)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + dropout(y) in one pass over the values."""
        if not self.active or y.device.type != "cpu":
            return super().add(x, y)
        return torch.addcmul(x, y, keep_scale(y, self.rate))
