"""Small layers whose gradients are written by hand: on a CPU they cost as much as they pass over memory.

By PyTorch's own operations a norm of root mean squares makes some fifteen passes forth and back, here eight; a squared
ReLU eight, here four. Half precision and other devices take the plain operations.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.nn import feedforward, positions
from regard.nn.norms import RMSNormalisation
from regard.nn.positions.rotary import RotaryPosition

EXACT = (torch.float32, torch.float64)


def by_hand(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in EXACT


class FastRMSNormalisation(RMSNormalisation):
    def forward(self, x: Tensor) -> Tensor:
        x = x.to(self.weight.dtype)
        if not by_hand(x):
            return super().forward(x)
        normed: Tensor = _RMSNorm.apply(x, self.weight, self.eps)  # type: ignore[no-untyped-call]
        return normed


class _RMSNorm(torch.autograd.Function):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimension.

    With n = x / size and g the gradient of n · weight, that of x is (g w - n mean(g w n)) / size.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        inverse = size.square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        normed: Tensor = x * inverse
        ctx.save_for_backward(normed, inverse, weight)
        return normed * weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        normed, inverse, weight = ctx.saved_tensors
        product = (grad * normed).reshape(-1, len(weight))
        mean = (product @ weight).div_(len(weight)).view_as(inverse)
        found = (grad * weight).addcmul_(normed, mean, value=-1).mul_(inverse)
        return found, product.sum(0) if ctx.needs_input_grad[1] else None, None


def squared_relu(x: Tensor) -> Tensor:
    """max(x, 0)^2. arXiv:2109.08668"""
    if not by_hand(x):
        return feedforward.squared_relu(x)
    squared: Tensor = _SquaredReLU.apply(x)  # type: ignore[no-untyped-call]
    return squared


class _SquaredReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        positive: Tensor = x.relu()
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (positive,) = ctx.saved_tensors
        found: Tensor = (grad * positive).mul_(2)
        return found


class FastRotaryPosition(RotaryPosition):
    def turn(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return turn_halves(x, cos, sin) if self.layout == "halves" else super().turn(x, cos, sin)


def turn_halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns the pairs (x_i, x_{i + K/2}) by angles whose cosines and sines are given."""
    if not by_hand(x) or cos.dtype != x.dtype:
        return positions.rotary.turn_halves(x, cos, sin)
    turned: Tensor = _Turn.apply(x, cos, sin)  # type: ignore[no-untyped-call]
    return turned


class _Turn(torch.autograd.Function):
    """The gradient is turned back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _turned(x, cos, sin, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return _turned(grad, cos, sin, -1), None, None


def _turned(x: Tensor, cos: Tensor, sin: Tensor, sign: int) -> Tensor:
    """Heads (B, H, T, K) are laid out token by token, as they came, so that merging them again copies nothing."""
    result = torch.empty_like(x.transpose(-2, -3), memory_format=torch.contiguous_format).transpose(-2, -3)
    (a, b), (first, second) = x.chunk(2, dim=-1), result.chunk(2, dim=-1)
    torch.mul(a, cos, out=first)
    first.addcmul_(b, sin, value=-sign)
    torch.mul(b, cos, out=second)
    second.addcmul_(a, sin, value=sign)
    return result
