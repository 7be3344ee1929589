"""The contract of an attention kernel: how queries, keys and values become a mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.config import Part
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class KernelConfig(Part, family="kernel"):
    """How a query scores keys and mixes values. Where it `bridges`, queries need not be as wide as keys."""

    bridges: ClassVar[bool] = False

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        raise TypeError(f"{type(self).__name__} is a family, not a kernel")


class Kernel(nn.Module):
    """Queries (B, H, T, K), keys and values (B, G, S, K) → (B, H, T, K).

    First `ready` computes what needs no queries, once for all steps where the keys stay the same. Of what it gives,
    `mix` makes the result: it is always the path that runs. `weights` is called in addition when someone is watching;
    in eval mode `combine(weights(q, k, context), v, context)` equals `mix(q, k, v, context)`.
    """

    causal = True  # whether it can keep the future out
    slots = False  # whether the columns of its weights are slots that `ready` makes of the keys, instead of the keys
    longest: int | None = None  # the most tokens of a row, where its parameters know no more places

    def __init__(self, dims: HeadDims, position: Position, dropout: float) -> None:
        super().__init__()
        self.dims = dims
        self.position: Position
        object.__setattr__(self, "position", position)  # the stack owns it, layers only use it
        self.dropout = Dropout(dropout)

    def ready(self, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """Keys and values as the other methods take them: what can be computed of them before queries come."""
        return k, v

    def forward(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        """What a layer calls, so that hooks on a kernel fire."""
        return self.mix(q, k, v, context)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        return self.combine(self.dropout(self.weights(q, k, context)), v, context)

    def weights(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """(B, H, T, S): for each query, how much of each key's value it takes; rows sum to one, or zero if masked.

        Of slots, which stand for all keys, none is masked: `ready` leaves out what is padding.
        """
        return masked_softmax(self.biased(q, k, context), None if self.slots else context.geometry.hidden())

    def biased(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """(B, H, T, S): the scores with position bias, before the mask."""
        scores = self.scores(q, k, context)
        bias = self.position.bias(q, 1.0, context)
        return scores if bias is None else scores + bias

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """(B, H, T, S), before position bias and mask."""
        raise TypeError(f"{type(self).__name__} does not score keys")

    def combine(self, weights: Tensor, v: Tensor, context: Context) -> Tensor:
        mixed = weights @ spread(v, self.dims.heads)
        if self.position.values is not None:
            mixed = mixed + self.position.values(weights, context)
        return mixed

    def real_keys(self, context: Context) -> Tensor | None:
        """(B, S): which keys are tokens, as opposed to padding, for a kernel that makes slots of them; None where all
        are. No other mask can be kept by slots."""
        mask = context.geometry.mask
        if not mask.only_padding:
            raise ValueError(f"{type(self).__name__} attends to slots, which can hide padding and nothing else: {mask}")
        return mask.keys

    def ready_values(self) -> int:
        """How many values keys that are ready have for each token."""
        return self.dims.groups * self.dims.key_width


def spread(x: Tensor, heads: int) -> Tensor:
    """(B, G, S, K) → (B, H, S, K): each key-value head serves H/G query heads."""
    groups = x.shape[1]
    return x if groups == heads else x.repeat_interleave(heads // groups, dim=1)


def masked_softmax(scores: Tensor, hidden: Tensor | None) -> Tensor:
    """Softmax over the keys that are not hidden; a row that sees none is zero, and so is its gradient."""
    if hidden is None:
        return scores.softmax(-1)
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    return scores.softmax(-1).masked_fill(hidden, 0.0)
