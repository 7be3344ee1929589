"""Places as plain numbers: the two schemes that are tried first and given up, kept so that one can see why."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Size
from regard.nn.call.geometry import Geometry
from regard.nn.linear import normal_
from regard.nn.positions.absolute import Absolute, AbsolutePosition, Join
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class Order(Absolute, kind="order"):
    """The order number 0, 1, 2, … along a learned direction: far places drown what stands there.

    One number on all values alike would be no position at all: a norm takes it away again.
    """

    def build(self, dims: HeadDims) -> Position:
        return OrderPosition(self.join, self.table_width(dims))


class OrderPosition(AbsolutePosition):
    """The direction is learned, how far to go along it is not."""

    def __init__(self, join: Join, width: int) -> None:
        super().__init__(join, width)
        self.direction = nn.Parameter(torch.empty(width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(self.direction, std=len(self.direction) ** -0.5)

    def vectors(self, geometry: Geometry, like: Tensor) -> Tensor:
        return self.numbers(geometry.query_positions).to(like.dtype).unsqueeze(-1) * self.direction

    def numbers(self, positions: Tensor) -> Tensor:
        return positions


@dataclass(frozen=True)
class Fraction(Absolute, kind="fraction"):
    """The fraction place / (n - 1) of a sequence of n, along a learned direction: a step means less in a longer one.

    A causal stack cannot know where its sequence will end; there n is `length`.
    """

    length: Size = 64

    def build(self, dims: HeadDims) -> Position:
        return FractionPosition(self.join, self.table_width(dims), self.length if dims.causal else None)


class FractionPosition(OrderPosition):
    def __init__(self, join: Join, width: int, length: int | None) -> None:
        super().__init__(join, width)
        self.length = length

    def numbers(self, positions: Tensor) -> Tensor:
        last = positions.amax(-1, keepdim=True) if self.length is None else self.length - 1
        return positions / torch.as_tensor(last, device=positions.device).clamp(min=1)
