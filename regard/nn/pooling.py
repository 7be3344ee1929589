"""Pooling: one vector for a whole sequence."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from regard.config import Part
from regard.nn.cost import Cost
from regard.nn.linear import Linear


@dataclass(frozen=True)
class PoolConfig(Part, family="pool"):
    """How a sequence becomes one vector."""

    def build(self, width: int) -> Pool:
        raise TypeError(f"{type(self).__name__} is a family, not a pooling")


class Pool(nn.Module):
    """Maps states (B, T, D) and the real tokens (B, T), None for all, to (B, D)."""

    def forward(self, states: Tensor, keep: Tensor | None) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not pool")

    def cost(self, batch: int) -> Cost:
        raise TypeError(f"{type(self).__name__} does not say what it costs")


@dataclass(frozen=True)
class FirstToken(PoolConfig, kind="first"):
    """tanh of a dense layer on the first token, BERT's [CLS]. arXiv:1810.04805"""

    def build(self, width: int) -> Pool:
        return FirstTokenPool(width)


class FirstTokenPool(Pool):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = Linear(width, width)

    def forward(self, states: Tensor, keep: Tensor | None) -> Tensor:
        if keep is None:
            first = states[:, 0]
        else:  # in a left-padded row the first token is not in the first column
            column = keep.int().argmax(-1)
            first = states.take_along_dim(column[:, None, None], dim=1).squeeze(1)
        pooled: Tensor = self.dense(first).tanh()
        return pooled

    def cost(self, batch: int) -> Cost:
        return self.dense.cost(batch) + Cost(kept=batch * self.dense.out_features)
