"""Dropout. Srivastava et al. 2014; a quicker one on a CPU: `regard/fast/dropout.py`."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """Sets values to zero at the given rate in training and scales the rest; leaves the input alone in eval mode."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    @property
    def active(self) -> bool:
        return self.training and self.rate > 0

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.rate) if self.active else x

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + dropout(y)."""
        dropped: Tensor = self(y)
        return x + dropped

    def extra_repr(self) -> str:
        return f"rate={self.rate}"
