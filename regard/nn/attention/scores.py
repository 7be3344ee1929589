"""Kernels whose score is not a product of query and key: additive and location-based."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.config import Size
from regard.errors import Error
from regard.nn.attention.kernel import Kernel, KernelConfig, per_head, spread
from regard.nn.context import Context
from regard.nn.cost import Cost, Shape
from regard.nn.linear import normal_
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class Additive(KernelConfig, kind="additive"):
    """v' tanh(W [q; k]), a small network that scores a pair. Bahdanau et al. 2015, arXiv:1409.0473.

    `hidden` is the network's width, that of a head where it is not given.
    """

    bridges: ClassVar[bool] = True

    hidden: Size | None = None

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return AdditiveKernel(dims, position, dropout, self.hidden or dims.key_width)


class AdditiveKernel(Kernel):
    """W is split in two, so that queries and keys pass it once each and only their sum is made per pair."""

    def __init__(self, dims: HeadDims, position: Position, dropout: float, hidden: int) -> None:
        super().__init__(dims, position, dropout)
        self.query = nn.Parameter(torch.empty(dims.heads, dims.asked_width, hidden))
        self.key = nn.Parameter(torch.empty(dims.heads, dims.key_width, hidden))
        self.v = nn.Parameter(torch.empty(dims.heads, 1, hidden, 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(self.query, std=(2 * self.dims.asked_width) ** -0.5)
        normal_(self.key, std=(2 * self.dims.key_width) ** -0.5)
        normal_(self.v, std=self.v.shape[-2] ** -0.5)

    def ready(self, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        return per_head(spread(k, self.dims.heads), self.key), v  # (B, H, S, hidden)

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        q = per_head(q, self.query)  # (B, H, T, hidden)
        pairs = (q.unsqueeze(-2) + k.unsqueeze(-3)).tanh()  # (B, H, T, S, hidden)
        return (pairs @ (self.v[0, 0] if self.dims.heads == 1 else self.v)).squeeze(-1)

    def ready_values(self) -> int:
        return self.dims.heads * self.v.shape[-2]

    def score_cost(self, shape: Shape) -> Cost:
        heads, hidden = self.dims.heads, self.v.shape[-2]
        values = shape.batch * heads * (shape.length * self.dims.asked_width + shape.keys * self.dims.key_width)
        pairs = shape.tokens * heads * shape.keys
        return Cost(values * hidden + pairs * hidden, kept=values + pairs * hidden)


@dataclass(frozen=True)
class Location(KernelConfig, kind="location"):
    """softmax(W q): the place of a key counts, its content does not. Luong et al. 2015, arXiv:1508.04025."""

    bridges: ClassVar[bool] = True

    length: Size = 512

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return LocationKernel(dims, position, dropout, self.length)


class LocationKernel(Kernel):
    def __init__(self, dims: HeadDims, position: Position, dropout: float, length: int) -> None:
        super().__init__(dims, position, dropout)
        self.longest = length
        self.weight = nn.Parameter(torch.empty(dims.heads, dims.asked_width, length))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(self.weight, std=self.dims.asked_width**-0.5)

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        length, span = self.weight.shape[-1], k.shape[2]
        places = context.geometry.key_positions
        reach = int(places.max()) + 1
        if reach > length:
            raise Error(f"{reach} keys are more than the {length} places that location-based attention knows")
        scores = per_head(q, self.weight[..., :reach])  # (B, H, T, reach)
        if places.dim() == 1:
            return scores[..., places]
        return scores.gather(-1, places[:, None, None].expand(*scores.shape[:-1], span))
