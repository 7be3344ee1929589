"""Relative positions: what counts is how far a key is from a query."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import ConfigError, Size
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.linear import VectorTable, normal_
from regard.nn.positions.base import HeadDims, Position, PositionConfig


def distances(geometry: Geometry) -> Tensor:
    """(T, S) or (B, T, S): place of the key minus place of the query."""

    def subtract() -> Tensor:
        return geometry.key_positions.unsqueeze(-2) - geometry.query_positions.unsqueeze(-1)

    return geometry.once("distances", subtract)


@dataclass(frozen=True)
class Relative(PositionConfig, kind="relative"):
    """Learned key and value vectors per clipped distance. Shaw et al. 2018, arXiv:1803.02155.

    Each layer has its own vectors unless `tied`; the heads of a layer share them unless `per_head`.
    """

    distance: Size = 16
    keys: bool = True
    values: bool = True
    per_head: bool = False
    tied: bool = False

    def check(self) -> None:
        if not (self.keys or self.values):
            raise ConfigError("keys false and values false: relative positions need one of them")

    @property
    def shared(self) -> bool:
        return self.tied

    def build(self, dims: HeadDims) -> Position:
        heads = dims.heads if self.per_head else 1
        key_width = dims.key_width if self.keys else None
        return RelativePosition(self.distance, heads, key_width, dims.value_width if self.values else None)


class RelativePosition(Position):
    """Never builds a vector per pair: queries meet the 2·distance + 1 vectors, and pairs look their score up."""

    def __init__(self, distance: int, heads: int, key_width: int | None, value_width: int | None) -> None:
        super().__init__()
        self.distance, self.heads = distance, heads
        steps = 2 * distance + 1
        self.key_table = None if key_width is None else nn.Parameter(torch.empty(heads, steps, key_width))
        self.value_table = None if value_width is None else nn.Parameter(torch.empty(heads, steps, value_width))
        if self.value_table is not None:
            self.values = self._values
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for table in (self.key_table, self.value_table):
            if table is not None:
                normal_(table, std=table.shape[-1] ** -0.5)

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor | None:
        if self.key_table is None:
            return None
        scores = (q * scale) @ self.key_table.transpose(-1, -2)  # (B, H, T, steps)
        steps = self._steps(context)
        return scores.gather(-1, steps.expand(*scores.shape[:-1], steps.shape[-1]))

    def _values(self, weights: Tensor, context: Context) -> Tensor:
        assert self.value_table is not None
        steps = self._steps(context).expand_as(weights)
        totals = weights.new_zeros(*weights.shape[:-1], 2 * self.distance + 1)
        return totals.scatter_add(-1, steps, weights) @ self.value_table

    def _steps(self, context: Context) -> Tensor:
        """(B or 1, 1, T, S): which vector each pair uses."""

        def clip() -> Tensor:
            steps = distances(context.geometry).clamp(-self.distance, self.distance) + self.distance
            return steps.view(-1, 1, *steps.shape[-2:])

        return context.geometry.once(("steps", self.distance), clip)


@dataclass(frozen=True)
class ALiBi(PositionConfig, kind="alibi"):
    """Adds nothing to the input; takes slope · distance off the scores, one slope per head. arXiv:2108.12409"""

    def build(self, dims: HeadDims) -> Position:
        return ALiBiPosition(dims.heads)


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), … for n heads; where n is no power of two, every other slope of the next one fills up."""
    whole = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * (i + 1) / whole) for i in range(whole)]
    finer = [2.0 ** (-4 * (i + 1) / whole) for i in range(0, 2 * whole, 2)]
    return slopes + finer[: heads - whole]


class ALiBiPosition(Position):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor:
        def make() -> Tensor:
            slopes = torch.tensor(alibi_slopes(self.heads), device=q.device, dtype=q.dtype)
            return distances(context.geometry).abs().neg().unsqueeze(-3) * slopes.view(-1, 1, 1)

        return context.geometry.once(("alibi", self.heads, q.dtype), make)


@dataclass(frozen=True)
class Buckets(PositionConfig, kind="t5"):
    """A learned bias per head and bucket of distance: near distances apart, far ones on a logarithmic scale.

    All layers share it. Raffel et al. 2020, arXiv:1910.10683. A causal stack spends every bucket on the past.
    """

    buckets: Size = 32
    distance: Size = 128

    def check(self) -> None:
        if self.buckets < 4 or self.buckets % 2 or self.distance <= self.buckets // 2:
            raise ConfigError(
                f"{self.buckets} buckets up to distance {self.distance}: "
                "it takes an even number of at least 4, and a distance above half of it"
            )

    def build(self, dims: HeadDims) -> Position:
        return BucketPosition(self.buckets, self.distance, dims.heads, two_sided=not dims.causal)


def bucket_of(distance: Tensor, buckets: int, furthest: int, two_sided: bool) -> Tensor:
    """The bucket of each distance (key minus query); beyond `furthest` all share the last one."""
    if two_sided:
        half = buckets // 2
        return bucket_of(-distance.abs(), half, furthest, two_sided=False) + half * (distance > 0)
    past = (-distance).clamp(min=0)
    exact = buckets // 2
    log = (past.clamp(min=1).double() / exact).log() / math.log(furthest / exact) * (buckets - exact)
    return torch.where(past < exact, past, (exact + log.long()).clamp(max=buckets - 1))


class BucketPosition(Position):
    def __init__(self, buckets: int, furthest: int, heads: int, two_sided: bool) -> None:
        super().__init__()
        self.buckets, self.furthest, self.two_sided = buckets, furthest, two_sided
        self.table = VectorTable(buckets, heads)

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor:
        def make() -> Tensor:
            buckets = bucket_of(distances(context.geometry), self.buckets, self.furthest, self.two_sided)
            bias: Tensor = self.table(buckets)  # (T, S, H) or (B, T, S, H)
            return bias.movedim(-1, -3)

        return context.geometry.once(("t5", id(self)), make)
