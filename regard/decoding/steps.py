"""What decoding asks of a model."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from regard.models.base import State


class Steps(Protocol):
    """A model that reads tokens (B, T) and tells the logits (B, V) of what follows."""

    def step(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> tuple[Tensor, State]: ...


def exact(logits: Tensor) -> Tensor:
    """In at least single precision: sums of log-probabilities are compared."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
