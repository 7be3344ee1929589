"""Kernels whose score is a product of query and key. They run on PyTorch's fused attention."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from regard.nn.attention.kernel import Kernel, KernelConfig, spread
from regard.nn.call.context import Context
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class ScaledDot(KernelConfig, kind="scaled-dot"):
    """q·k / sqrt(K), so that scores of unit-variance inputs have unit variance. Vaswani et al. 2017."""

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return DotKernel(dims, position, dropout, scale=dims.key_width**-0.5)


@dataclass(frozen=True)
class Dot(KernelConfig, kind="dot"):
    """q·k. Luong et al. 2015, arXiv:1508.04025."""

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return DotKernel(dims, position, dropout, scale=1.0)


class DotKernel(Kernel):
    """The score is scale · q'·k, where `turned` makes q' of queries."""

    def __init__(self, dims: HeadDims, position: Position, dropout: float, scale: float) -> None:
        super().__init__(dims, position, dropout)
        self.scale = scale

    def turned(self, q: Tensor) -> Tensor:
        return q

    def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        if self.position.values is not None:  # Shaw's values need the weights
            return super().mix(q, k, v, context)
        return self.fused(self.turned(q), k, v, context)

    def fused(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        """By PyTorch's fused attention; q and k are as the score wants them."""
        bias = self.position.bias(q, self.scale, context)
        causal = context.geometry.plainly_causal and bias is None
        if bias is None:
            bias = None if causal else context.geometry.unseen(q.dtype)
        elif (hidden := context.geometry.hidden()) is not None:
            bias = bias.masked_fill(hidden, float("-inf"))
        return F.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=bias,
            dropout_p=self.dropout.rate if self.dropout.active else 0.0,
            is_causal=causal,
            scale=self.scale,
            enable_gqa=self.dims.heads != self.dims.groups,
        )

    def biased(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        scores = self.scores(q, k, context)
        bias = self.position.bias(self.turned(q), self.scale, context)
        return scores if bias is None else scores + bias

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        return (self.turned(q) * self.scale) @ spread(k, self.dims.heads).transpose(-1, -2)
