"""Temporal convolutions interleaved with causal attention: the layers of SNAIL. Mishra et al. 2018, arXiv:1707.03141.

Convolutions gather what is near, attention picks out what is far. Every block adds channels to what it is given instead
of changing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from regard.config import Config, ConfigError, Size
from regard.nn.attention.dot import ScaledDot
from regard.nn.attention.kernel import KernelConfig
from regard.nn.call.context import Context
from regard.nn.linear import Linear
from regard.nn.positions.base import HeadDims, Position

ROLE = "self"


@dataclass(frozen=True)
class TemporalLayers(Config):
    """Attention blocks of these widths of `keys` and `values`, a convolution block between any two.

    A convolution block has dilations 1, 2, 4, … until it reaches over `length` tokens; longer rows are read as well.
    """

    length: Size = 32
    filters: Size = 32
    keys: tuple[Size, ...] = (32, 32, 32)
    values: tuple[Size, ...] = (32, 32, 32)
    kernel: KernelConfig = ScaledDot()

    def check(self) -> None:
        if len(self.keys) != len(self.values) or not self.keys:
            raise ConfigError(f"{len(self.keys)} widths of keys and {len(self.values)} of values: give as many of each")

    def build(self, width: int) -> TemporalStack:
        return TemporalStack(self, width)


class DenseBlock(nn.Module):
    """A causal convolution of two taps, `dilation` steps apart, with a gate: tanh(f) σ(g), beside its input.

    (B, T, C) → (B, T, C + filters). Before the first step stands nothing.
    """

    def __init__(self, inputs: int, dilation: int, filters: int) -> None:
        super().__init__()
        self.dilation = dilation
        self.taps = Linear(2 * inputs, 2 * filters, pieces=(filters, filters))  # of the earlier step and of this one

    def forward(self, x: Tensor, context: Context) -> Tensor:
        past = None if context.cache is None else context.cache.held(context.name)
        before = x.new_zeros(len(x), self.dilation, x.shape[-1]) if past is None else past[0]
        joined = torch.cat([before, x], 1)
        if context.cache is not None:
            context.cache.hold(context.name, latest(joined, self.dilation, x.shape[1], context.geometry.mask.keys))
        f, g = self.taps(torch.cat([joined[:, : x.shape[1]], x], -1)).chunk(2, -1)
        return torch.cat([x, f.tanh() * g.sigmoid()], -1)


def latest(joined: Tensor, count: int, new: int, keep: Tensor | None) -> Tensor:
    """(B, count, C): the last `count` real steps of each row, of which `new` came now; their padding stands last."""
    if keep is None:
        return joined[:, -count:]
    real = keep[:, -new:].sum(1)  # of the new ones; those before them are all real
    places = real[:, None] + torch.arange(count, device=real.device)
    return joined.take_along_dim(places.unsqueeze(-1), 1)


class CausalAttention(nn.Module):
    """One head that looks back: (B, T, C) → (B, T, C + values).

    Queries and keys start from the same matrix, so that a step looks at steps like itself before anything is learnt.
    """

    def __init__(self, kernel: KernelConfig, inputs: int, keys: int, values: int) -> None:
        super().__init__()
        self.widths = (keys, keys, values)
        self.qkv = Linear(inputs, sum(self.widths), pieces=self.widths, alike=2)
        self.kernel = kernel.build(HeadDims(inputs, 1, 1, keys, values, causal=True), Position(), dropout=0.0)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        q, k, v = self.qkv(x).unsqueeze(1).split(self.widths, -1)  # (B, 1, T, …)
        if context.cache is not None:
            k, v = context.cache.at(context.place(ROLE)).extend(k, v)
        k, v = self.kernel.ready(k, v, context)
        mixed: Tensor = self.kernel(q, k, v, context)
        read = context.attended(ROLE, mixed, lambda: self.kernel.weights(q, k, context))
        return torch.cat([x, read.squeeze(1)], -1)


class Round(nn.Module):
    """Convolutions of growing dilation, which may be none, then attention."""

    def __init__(self, config: TemporalLayers, width: int, dilations: list[int], keys: int, values: int) -> None:
        super().__init__()
        widths = [width + number * config.filters for number in range(len(dilations) + 1)]
        pairs = zip(widths, dilations, strict=False)
        self.dense = nn.ModuleList([DenseBlock(inputs, dilation, config.filters) for inputs, dilation in pairs])
        self.attention = CausalAttention(config.kernel, widths[-1], keys, values)
        self.out_width = widths[-1] + values

    def forward(self, x: Tensor, context: Context) -> Tensor:
        for place, dense in enumerate(self.dense):
            x = dense(x, context.enter(f"convolution.{place}"))
        attended: Tensor = self.attention(x, context)
        return attended


class TemporalStack(nn.Module):
    """(B, T, width) → (B, T, `out_width`), each step from itself and those before it."""

    def __init__(self, config: TemporalLayers, width: int) -> None:
        super().__init__()
        dilations = [2**i for i in range(max(config.length - 1, 1).bit_length())]
        self.rounds = nn.ModuleList()
        for number, (keys, values) in enumerate(zip(config.keys, config.values, strict=True)):
            one = Round(config, width, dilations if number else [], keys, values)
            self.rounds.append(one)
            width = one.out_width
        self.out_width = width

    def forward(self, x: Tensor, context: Context) -> Tensor:
        for number, one in enumerate(self.rounds):
            x = one(x, context.enter(str(number)))
        return x

    def attention_heads(self, name: str) -> dict[str, int]:
        return {f"{name}.{number}.{ROLE}": 1 for number in range(len(self.rounds))}

    def cache_values(self) -> int:
        """Values held for each token: keys and values. What convolutions hold does not grow."""
        return sum(sum(cast(Round, one).attention.widths[1:]) for one in self.rounds)
