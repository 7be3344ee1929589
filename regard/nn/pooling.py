"""Pooling: one vector for a whole sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import Part, Size
from regard.nn.call.context import Context
from regard.nn.linear import Linear


@dataclass(frozen=True)
class PoolConfig(Part, family="pool"):
    """How a sequence becomes one vector."""

    def build(self, width: int) -> Pool:
        raise TypeError(f"{type(self).__name__} is a family, not a pooling")

    def after(self, width: int) -> int:
        """The width of the vector of states of this width."""
        return width


class Pool(nn.Module):
    """Maps states (B, T, D) and the real tokens (B, T), None for all, to (B, D), or to the width that its config says.

    `attends` says whether it has weights to watch; a watcher sees them under the name of the context.
    """

    attends = False

    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not pool")

    def shares(self, count: int) -> list[float] | None:
        """How much each of so many states counts in the vector; None where that depends on them."""
        return None


@dataclass(frozen=True)
class FirstToken(PoolConfig, kind="first"):
    """A dense layer on the first token, BERT's [CLS], and an activation: tanh in BERT, arXiv:1810.04805, ReLU where
    DistilBERT classifies. Not `dense` it is the state itself, as in ViT, arXiv:2010.11929."""

    activation: Literal["tanh", "relu"] = "tanh"
    dense: bool = True

    def build(self, width: int) -> Pool:
        return FirstTokenPool(width if self.dense else None, self.activation)


class FirstTokenPool(Pool):
    def __init__(self, width: int | None, activation: Literal["tanh", "relu"]) -> None:
        super().__init__()
        self.dense = None if width is None else Linear(width, width)
        self.activation = torch.tanh if activation == "tanh" else torch.relu

    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        if keep is None:
            first = states[:, 0]
        else:  # in a left-padded row the first token is not in the first column
            column = keep.int().argmax(-1)
            first = states.take_along_dim(column[:, None, None], dim=1).squeeze(1)
        return first if self.dense is None else self.activation(self.dense(first))

    def shares(self, count: int) -> list[float]:
        return [1.0, *[0.0] * (count - 1)]


@dataclass(frozen=True)
class SideBySide(PoolConfig, kind="side-by-side"):
    """The first `count` states one beside the other, and beside them, unless told otherwise, the `mean` of all behind
    them: the class token and the mean of the patches where DINOv2 classifies, arXiv:2304.07193; the tokens of the class
    and of distillation in DeiT, arXiv:2012.12877."""

    count: Size = 1
    mean: bool = True

    def build(self, width: int) -> Pool:
        return SideBySidePool(self.count, self.mean)

    def after(self, width: int) -> int:
        return width * (self.count + self.mean)


class SideBySidePool(Pool):
    def __init__(self, count: int, mean: bool) -> None:
        super().__init__()
        self.count, self.mean = count, mean

    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        real = states.new_ones(states.shape[:2], dtype=torch.bool) if keep is None else keep
        places = real.cumsum(-1).masked_fill(~real, 0)  # from 1 on
        vectors = [sum_where(places == place, states) for place in range(1, self.count + 1)]
        if self.mean:
            behind = places > self.count
            vectors.append(sum_where(behind, states) / behind.sum(1, keepdim=True).clamp(min=1).to(states.dtype))
        return torch.cat(vectors, -1)


def sum_where(these: Tensor, states: Tensor) -> Tensor:
    """(B, T), (B, T, D) → (B, D)"""
    return states.masked_fill(~these.unsqueeze(-1), 0).sum(1)


def last_real(states: Tensor, keep: Tensor | None) -> Tensor:
    """(B, T, D) → (B, D): the state of each row's last real token."""
    if keep is None:
        return states[:, -1]
    columns = torch.arange(keep.shape[1], device=keep.device).masked_fill(~keep, 0).amax(-1)
    return states.take_along_dim(columns[:, None, None], dim=1).squeeze(1)


@dataclass(frozen=True)
class LastToken(PoolConfig, kind="last"):
    """The state of the last real token, which has read all others where a model reads from left to right; `dense`: tanh
    of a dense layer on it, as for XLNet's <cls>, which stands there (arXiv:1906.08237)."""

    dense: bool = False

    def build(self, width: int) -> Pool:
        return LastTokenPool(width if self.dense else None)


class LastTokenPool(Pool):
    def __init__(self, width: int | None) -> None:
        super().__init__()
        self.dense = None if width is None else Linear(width, width)

    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        last = last_real(states, keep)
        return last if self.dense is None else self.dense(last).tanh()

    def shares(self, count: int) -> list[float]:
        return [*[0.0] * (count - 1), 1.0]


@dataclass(frozen=True)
class Mean(PoolConfig, kind="mean"):
    """The mean of the states."""

    def build(self, width: int) -> Pool:
        return MeanPool()


class MeanPool(Pool):
    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        if keep is None:
            return states.mean(1)
        real = keep.unsqueeze(-1)
        return states.masked_fill(~real, 0).sum(1) / real.sum(1).to(states.dtype)

    def shares(self, count: int) -> list[float]:
        return [1 / count] * count


@dataclass(frozen=True)
class Largest(PoolConfig, kind="max"):
    """The largest value of each column of the states. Collobert et al. 2011, arXiv:1103.0398"""

    def build(self, width: int) -> Pool:
        return LargestPool()


class LargestPool(Pool):
    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        real = states if keep is None else states.masked_fill(~keep.unsqueeze(-1), -torch.inf)
        return real.amax(1)


@dataclass(frozen=True)
class AttentionPooling(PoolConfig, kind="attention"):
    """A mean weighted by what a learnt vector v finds in each state h: softmax of v · tanh(W h + b).

    `context` is the width of v, that of the states unless told. Yang et al. 2016, section 2.2.
    """

    context: Size | None = None

    def build(self, width: int) -> Pool:
        return AttentionPool(width, self.context or width)


class AttentionPool(Pool):
    attends = True

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.hidden = Linear(width, context)
        self.score = Linear(context, 1, bias=False)  # its one row is v

    def weights(self, states: Tensor, keep: Tensor | None) -> Tensor:
        """(B, T), each row a distribution over its real tokens."""
        scores: Tensor = self.score(self.hidden(states).tanh()).squeeze(-1)
        return (scores if keep is None else scores.masked_fill(~keep, -torch.inf)).softmax(-1)

    def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
        weights = self.weights(states, keep)
        pooled = weights.unsqueeze(1) @ states  # (B, 1, D)
        if context is not None:
            pooled = context.attended("", pooled, lambda: weights[:, None, None])
        return pooled.squeeze(1)
