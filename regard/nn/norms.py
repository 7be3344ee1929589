"""Norms over the width of a token."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from regard.config import Part, Positive


@dataclass(frozen=True)
class NormConfig(Part, family="norm"):
    """Keeps the size of activations in check."""

    def build(self, width: int) -> Norm:
        raise TypeError(f"{type(self).__name__} is a family, not a norm")


class Norm(nn.Module):
    """Maps (B, T, D) to (B, T, D)."""


@dataclass(frozen=True)
class LayerNorm(NormConfig, kind="layer"):
    """Zero mean and unit deviation over the width, then scale and shift. Ba et al. 2016, arXiv:1607.06450."""

    eps: Positive = 1e-5
    bias: bool = True

    def build(self, width: int) -> Norm:
        return LayerNormalisation(width, self.eps, bias=self.bias)


class LayerNormalisation(nn.LayerNorm, Norm):
    """PyTorch's own."""


@dataclass(frozen=True)
class RMSNorm(NormConfig, kind="rms"):
    """Unit root mean square over the width, then scale; no mean, no shift. arXiv:1910.07467"""

    eps: Positive = 1e-6

    def build(self, width: int) -> Norm:
        return RMSNormalisation(width, self.eps)


class RMSNormalisation(nn.RMSNorm, Norm):
    def forward(self, x: Tensor) -> Tensor:
        """In the precision of the weight."""
        return super().forward(x.to(self.weight.dtype))
