"""Kernels with other scores: a product with a matrix between, a cosine, a small network, the place alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Positive, Size
from regard.errors import Error
from regard.nn.attention.dot import DotKernel
from regard.nn.attention.kernel import Kernel, KernelConfig, spread
from regard.nn.call.context import Context
from regard.nn.linear import normal_
from regard.nn.positions.base import HeadDims, Position


def per_head(x: Tensor, weight: Tensor) -> Tensor:
    """(B, H, T, K) through the matrix (H, K, N) of each head → (B, H, T, N), as few large products.

    `x @ weight` would make one small product for each row of the batch.
    """
    heads = len(weight)
    if heads == 1:
        return x @ weight[0] if x.is_contiguous() else x.contiguous() @ weight[0]
    batch, _, length, width = x.shape
    turned = x.transpose(0, 1).reshape(heads, batch * length, width) @ weight
    return turned.view(heads, batch, length, -1).transpose(0, 1).contiguous()  # what is made of it keeps its layout


@dataclass(frozen=True)
class General(KernelConfig, kind="general"):
    """q' W k with a learned matrix per head. Luong et al. 2015, arXiv:1508.04025."""

    bridges: ClassVar[bool] = True

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return GeneralKernel(dims, position, dropout)


class GeneralKernel(DotKernel):
    def __init__(self, dims: HeadDims, position: Position, dropout: float) -> None:
        super().__init__(dims, position, dropout, scale=1.0)
        self.weight = nn.Parameter(torch.empty(dims.heads, dims.asked_width, dims.key_width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(
            self.weight, std=(self.dims.asked_width * self.dims.key_width) ** -0.5
        )  # scores of unit-variance inputs have unit variance

    def turned(self, q: Tensor) -> Tensor:
        return per_head(q, self.weight)


@dataclass(frozen=True)
class Content(KernelConfig, kind="content"):
    """Cosine of query and key, sharpened by a key strength per head, which is learned from `strength` on.

    The content addressing of neural Turing machines. Graves et al. 2014, arXiv:1410.5401.
    """

    strength: Positive = 1.0

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return ContentKernel(dims, position, dropout, self.strength)


class ContentKernel(DotKernel):
    def __init__(self, dims: HeadDims, position: Position, dropout: float, strength: float) -> None:
        super().__init__(dims, position, dropout, scale=1.0)
        self.start = strength
        self.log_strength = nn.Parameter(torch.empty(dims.heads, 1, 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.log_strength, math.log(self.start))

    def turned(self, q: Tensor) -> Tensor:
        return F.normalize(q, dim=-1) * self.log_strength.exp()

    def ready(self, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        return F.normalize(k, dim=-1), v


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
        # How far places reach is known of values alone; what is traced takes all places.
        reach = length if torch.compiler.is_compiling() else int(places.max()) + 1
        if reach > length:
            raise Error(f"{reach} keys are more than the {length} places that location-based attention knows")
        scores = per_head(q, self.weight[..., :reach])  # (B, H, T, reach)
        if places.dim() == 1:
            return scores[..., places]
        return scores.gather(-1, places[:, None, None].expand(*scores.shape[:-1], span))
