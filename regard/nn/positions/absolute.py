"""Absolute positions: a vector per place in the sequence, added to or joined with the input, or added to q, k and v."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from regard.config import ConfigError, Positive, Size
from regard.errors import Error
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.linear import VectorTable
from regard.nn.positions.base import HeadDims, Position, PositionConfig

Join = Literal["add", "concat", "qkv"]
Layout = Literal["interleaved", "halves"]


@dataclass(frozen=True)
class Absolute(PositionConfig):
    """How a vector per place enters the model.

    join: "add" to the embedding, "concat" to it (then `width` of the model's width is the position's), or "qkv": added
    to queries, keys and values of every layer, the same vector for each head.
    """

    join: Join = "add"
    width: Size | None = None

    def check(self) -> None:
        if (self.join == "concat") != (self.width is not None):
            raise ConfigError(f"width {self.width} with join {self.join!r}: a width goes with 'concat', and only there")

    def table_width(self, dims: HeadDims) -> int:
        if self.join == "qkv" and dims.key_width != dims.value_width:
            raise ConfigError(
                f"join 'qkv' adds one vector to keys of width {dims.key_width} and values of width {dims.value_width}"
            )
        if self.join == "concat" and self.width is not None:
            if self.width >= dims.width:
                raise ConfigError(f"a position of width {self.width} leaves nothing of the model's width {dims.width}")
            return self.width
        return dims.key_width if self.join == "qkv" else dims.width


class AbsolutePosition(Position):
    """Looks vectors up by place and joins them."""

    def __init__(self, join: Join, width: int) -> None:
        super().__init__()
        self.join = join
        self.taken = width if join == "concat" else 0

    def vectors(self, geometry: Geometry, like: Tensor) -> Tensor:
        """(T, width) or (B, T, width): one for each query."""
        raise TypeError(f"{type(self).__name__} looks up no vectors")

    def embed(self, x: Tensor, context: Context) -> Tensor:
        if self.join == "qkv":
            return x
        places = self.vectors(context.geometry, x)
        if self.join == "add":
            return x + places
        return torch.cat([x, places.expand(*x.shape[:-1], -1)], dim=-1)

    def place(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        if self.join != "qkv":
            return q, k, v
        places = self.vectors(context.geometry, q).unsqueeze(-3)  # (1, T, K) or (B, 1, T, K)
        return q + places, k + places, v + places


@dataclass(frozen=True)
class Sinusoidal(Absolute, kind="sinusoidal"):
    """Sines and cosines of falling frequency, nothing to learn. Vaswani et al. 2017, arXiv:1706.03762, section 3.5.

    The paper interleaves sine and cosine; Marian has all sines first ("halves").
    """

    layout: Layout = "interleaved"
    base: Positive = 10_000.0

    def build(self, dims: HeadDims) -> Position:
        return SinusoidalPosition(self.join, self.table_width(dims), self.layout, self.base)


def sinusoids(positions: Tensor, width: int, layout: Layout = "interleaved", base: float = 10_000.0) -> Tensor:
    """(…, width) in double precision, where the device has it: sin and cos of position / base^(2i / width)."""
    pairs, exact = (width + 1) // 2, torch.float32 if positions.device.type == "mps" else torch.float64
    rates = base ** (-torch.arange(pairs, dtype=exact, device=positions.device) * 2 / width)
    angles = positions.unsqueeze(-1) * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1 if layout == "interleaved" else -2)
    return waves.flatten(-2)[..., :width]


class SinusoidalPosition(AbsolutePosition):
    def __init__(self, join: Join, width: int, layout: Layout, base: float) -> None:
        super().__init__(join, width)
        self.width, self.layout, self.base = width, layout, base

    def vectors(self, geometry: Geometry, like: Tensor) -> Tensor:
        return sinusoids(geometry.query_positions, self.width, self.layout, self.base).to(like.dtype)


@dataclass(frozen=True)
class Learned(Absolute, kind="learned"):
    """A learned vector per place; a longer input is an error. Gehring et al. 2017, arXiv:1705.03122; BERT; GPT."""

    length: Size = 1024

    def build(self, dims: HeadDims) -> Position:
        return LearnedPosition(self.join, self.table_width(dims), self.length)


class LearnedPosition(AbsolutePosition):
    def __init__(self, join: Join, width: int, length: int) -> None:
        super().__init__(join, width)
        self.table = VectorTable(length, width)
        self.longest = length

    def vectors(self, geometry: Geometry, like: Tensor) -> Tensor:
        positions, reach, length = geometry.query_positions, geometry.reach, self.table.num_embeddings
        if reach > length and (reach := int(positions.max()) + 1) > length:  # padding may have made it seem longer
            raise Error(f"a sequence of {reach} tokens is longer than the learned position table of {length}")
        places: Tensor = self.table(positions)
        return places
