"""Rotary positions: queries and keys are turned by an angle that grows with their place."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import ConfigError, Positive
from regard.nn.call.context import Context
from regard.nn.positions.absolute import Layout
from regard.nn.positions.base import HeadDims, Position, PositionConfig


@dataclass(frozen=True)
class Rotary(PositionConfig, kind="rotary"):
    """Turns pairs of query and key values, so that a score depends on the distance alone. arXiv:2104.09864

    The paper pairs neighbours ("interleaved"); most released weights pair value i with i + K/2 ("halves").
    """

    layout: Layout = "halves"
    base: Positive = 10_000.0

    def build(self, dims: HeadDims) -> Position:
        if dims.key_width % 2:
            raise ConfigError(f"rotary positions turn pairs of values, but a head has {dims.key_width} of them")
        return RotaryPosition(dims.key_width, self.layout, self.base)


class RotaryPosition(Position):
    def __init__(self, width: int, layout: Layout, base: float) -> None:
        super().__init__()
        self.width, self.layout, self.base = width, layout, base

    def place(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        key = ("rotary", id(self), q.dtype)
        cos, sin = context.geometry.once(key, lambda: self.angles(context.geometry.query_positions, q))
        return self.turn(q, cos, sin), self.turn(k, cos, sin), v

    def angles(self, positions: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines (1, T, K/2) or (B, 1, T, K/2), exact far into a sequence: computed in fp64 where it is."""
        exact = torch.float32 if positions.device.type == "mps" else torch.float64
        steps = torch.arange(0, self.width, 2, device=positions.device, dtype=exact)
        angles = positions.unsqueeze(-1) * self.base ** (-steps / self.width)
        return angles.cos().to(like.dtype).unsqueeze(-3), angles.sin().to(like.dtype).unsqueeze(-3)

    def turn(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        if self.layout == "halves":
            return turn_halves(x, cos, sin)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)


def turn_halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns the pairs (x_i, x_{i + K/2}) by angles whose cosines and sines are given."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
