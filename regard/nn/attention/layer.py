"""Attention layers: project, split into heads, place, cache, mix, merge."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import ConfigError, Part, Rate, Size
from regard.nn.attention.dot import ScaledDot
from regard.nn.attention.kernel import KernelConfig
from regard.nn.call.context import Context
from regard.nn.linear import Linear
from regard.nn.norms import NormConfig
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class MixerConfig(Part, family="mixer"):
    """What lets the tokens of a sequence exchange information."""

    def dims(self, width: int, causal: bool) -> HeadDims:
        return HeadDims(width, 1, 1, width, width, causal)

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        """Within one sequence."""
        raise TypeError(f"{type(self).__name__} is a family, not a mixer")

    def build_cross(self, width: int, memory_width: int) -> Mixer:
        """From one sequence to the memory of another."""
        raise ConfigError(f"a mixer of kind {self.kind!r} cannot attend to a memory")


class Mixer(nn.Module):
    """Maps (B, T, D) and a context to (B, T, D)."""

    dims: HeadDims
    role = "self"  # its name within a block, as in "decoder.3.cross"
    watched = True  # whether it has weights to show
    slots = False  # whether the columns of these weights are slots instead of tokens
    branches = True  # whether hypotheses of a sentence may stand side by side in a row

    def cache_values(self) -> int:
        """Values that a cache holds for each key."""
        return 0


@dataclass(frozen=True)
class MultiHead(MixerConfig, kind="multi-head"):
    """Attention with several heads in parallel. Vaswani et al. 2017, section 3.2.2.

    `kv_heads` below `heads` lets several query heads share keys and values (arXiv:2305.13245; one: arXiv:1911.02150).
    A head is width / heads wide unless `key_width` or `value_width` say otherwise. `key_norm` norms the queries and
    keys of each head before they are placed, so that scores cannot grow without bound (arXiv:2010.04245; before rotary
    positions: arXiv:2302.05442).
    """

    heads: Size = 8
    kv_heads: Size | None = None
    key_width: Size | None = None
    value_width: Size | None = None
    kernel: KernelConfig = ScaledDot()
    bias: bool = True
    weight_dropout: Rate = 0.0
    key_norm: NormConfig | None = None

    def check(self) -> None:
        if self.heads % (self.kv_heads or self.heads):
            raise ConfigError(f"{self.heads} heads cannot be shared out among {self.kv_heads} key-value heads")

    def dims(self, width: int, causal: bool) -> HeadDims:
        if self.key_width is None and width % self.heads:
            raise ConfigError(f"width {width} is not divisible by {self.heads} heads")
        key_width = self.key_width or width // self.heads
        groups = self.kv_heads or self.heads
        return HeadDims(width, self.heads, groups, key_width, self.value_width or key_width, causal)

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        return SelfAttention(self, self.dims(width, causal), position)

    def build_cross(self, width: int, memory_width: int) -> Mixer:
        return CrossAttention(self, self.dims(width, causal=False), memory_width)


class Attention(Mixer):
    """What self- and cross-attention share: the kernel and the way out."""

    def __init__(self, config: MultiHead, dims: HeadDims, position: Position) -> None:
        super().__init__()
        self.dims = dims
        self.kernel = config.kernel.build(dims, position, config.weight_dropout)
        if dims.causal and not self.kernel.causal:
            raise ConfigError(f"a kernel of kind {config.kernel.kind!r} cannot be causal")
        self.slots = self.kernel.slots
        if self.slots and (type(position).bias is not Position.bias or position.values is not None):
            raise ConfigError(
                f"a kernel of kind {config.kernel.kind!r} attends to slots, which stand nowhere: take positions that "
                "add nothing to scores or values, such as learned, sinusoidal or rotary ones"
            )
        self.out = Linear(dims.heads * dims.value_width, dims.width, config.bias, residual=True)
        self.query_norm = None if config.key_norm is None else config.key_norm.build(dims.key_width)
        self.key_norm = None if config.key_norm is None else config.key_norm.build(dims.key_width)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        """Queries (B, H, T, K) to keys and values that are ready → (B, T, D)."""
        mixed: Tensor = self.kernel(q, k, v, context)
        mixed = context.attended(self.role, mixed, lambda: self.shown(q, k, context))
        merged: Tensor = self.out(mixed.transpose(1, 2).flatten(2))  # (B, H, T, K) → (B, T, D)
        if context.watcher is not None:
            for name, value in (("queries", q), ("keys", k), ("mixed", mixed), ("output", merged)):
                context.note(f"{self.role}.{name}", value)
            context.note(f"{self.role}.scores", lambda: self.kernel.biased(q, k, context))
        return merged

    def shown(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """The weights (B, H, T, S) as a watcher sees them: sequences that share keys each in a row of their own."""
        weights = self.kernel.weights(q, k, context)
        rows, heads, _, keys = weights.shape  # (R, H, n·T, S)
        length = context.geometry.query_positions.shape[-1] // context.geometry.hypotheses
        return weights.view(rows, heads, -1, length, keys).transpose(1, 2).flatten(0, 1)

    def cache_values(self) -> int:
        return self.dims.groups * (self.dims.key_width + self.dims.value_width)


class SelfAttention(Attention):
    """Queries, keys and values from one sequence, by one fused matrix.

    Its rows are grouped by key-value head: for each, its query heads, its key, its value. So it can be split over
    processes by key-value head.
    """

    def __init__(self, config: MultiHead, dims: HeadDims, position: Position) -> None:
        super().__init__(config, dims, position)
        self.queries = dims.heads // dims.groups
        self.widths = [self.queries * dims.key_width, dims.key_width, dims.value_width]
        self.qkv = Linear(
            dims.width, dims.groups * sum(self.widths), config.bias, pieces=tuple(self.widths) * dims.groups
        )

    def forward(self, x: Tensor, context: Context) -> Tensor:
        q, k, v = self.project(x, context)
        if context.cache is not None:
            name, geometry = f"{context.name}.{self.role}", context.geometry
            k, v = context.cache.extend(
                name, k, v, x, geometry, lambda states, there: self.project(states, context.at(there))[1:]
            )
        return self.attend(q, *self.kernel.ready(k, v, context), context)

    def project(self, x: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, K), keys and values (B, G, T, K), placed."""
        q, k, v = self.split(self.qkv(x))
        vectors = self.kernel.position.beside(context)
        if vectors is not None:
            more_q, more_k, _ = self.split(product(self.qkv, vectors.to(x.dtype)))
            q, k = q + more_q, k + more_k
        if self.query_norm is not None and self.key_norm is not None:
            q, k = self.query_norm(q), self.key_norm(k)
        placed: tuple[Tensor, Tensor, Tensor] = self.kernel.position(q, k, v, context)
        return placed

    def split(self, fused: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (…, H, T, K), keys and values (…, G, T, K) out of one product (…, T, …)."""
        grouped = fused.view(*fused.shape[:-1], self.dims.groups, -1).transpose(-3, -2)  # (…, G, T, …)
        q, k, v = torch.split(grouped, self.widths, dim=-1)
        if self.queries > 1:
            q = q.reshape(*q.shape[:-1], self.queries, -1).transpose(-3, -2).flatten(-4, -3)
        return q, k, v


def product(layer: nn.Module, vectors: Tensor) -> Tensor:
    """What a linear layer makes of vectors, without its bias."""
    found: Tensor = layer(vectors) - layer(vectors.new_zeros(1, vectors.shape[-1]))
    return found


class CrossAttention(Attention):
    """Queries from one sequence, keys and values from the memory of another, made ready once for each memory.

    A memory of R rows serves R·n sequences, n consecutive ones each, as in beam search: they are laid end to end and
    attend to their memory together, so that keys and values are never repeated.
    """

    role = "cross"

    def __init__(self, config: MultiHead, dims: HeadDims, memory_width: int) -> None:
        super().__init__(config, dims, Position())
        self.widths = [dims.key_width, dims.value_width]
        self.q = Linear(dims.width, dims.heads * dims.key_width, config.bias)
        self.kv = Linear(
            memory_width, dims.groups * sum(self.widths), config.bias, pieces=tuple(self.widths) * dims.groups
        )

    def forward(self, x: Tensor, context: Context) -> Tensor:
        across = context.across()
        k, v = across.kept(self.role, lambda states: self.keys_and_values(states, across))
        if len(x) % len(k):
            raise ValueError(f"the memory holds a batch of {len(k)}, the tokens are a batch of {len(x)}")
        vectors = self.kernel.position.beside(context)
        asking = x if vectors is None else x + vectors.to(x.dtype)
        joined = asking.reshape(len(k), -1, x.shape[-1])  # (R·n, T, D) → (R, n·T, D)
        q = self.q(joined).view(*joined.shape[:-1], self.dims.heads, -1).transpose(1, 2)  # (R, H, n·T, K)
        if self.query_norm is not None:
            q = self.query_norm(q)
        return self.attend(q, k, v, across).view(x.shape)

    def keys_and_values(self, states: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        """Of the states (R, S, D) of a memory, (R, G, S, …), ready for queries."""
        fused = self.kv(states).unflatten(-1, (self.dims.groups, -1)).transpose(1, 2)
        k, v = fused.split(self.widths, dim=-1)
        if context.memory is not None and (places := context.memory.places) is not None:
            more = product(self.kv, places.to(states.dtype))
            more = more.view(*more.shape[:-1], self.dims.groups, -1).transpose(-3, -2)
            k = k + more[..., : self.widths[0]]
        return self.kernel.ready(k if self.key_norm is None else self.key_norm(k), v, context)

    def cache_values(self) -> int:
        return self.kernel.ready_values() + self.dims.groups * self.dims.value_width
