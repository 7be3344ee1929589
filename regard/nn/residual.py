"""Residual wiring: how a sublayer joins the stream that runs past it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Part, Positive, Rate
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.norms import NormConfig

Sublayer = Callable[[Tensor, Context], Tensor]


@dataclass(frozen=True)
class ResidualConfig(Part, family="residual"):
    """How sublayers are joined; dropout falls on what a sublayer adds."""

    dropout: Rate = 0.0

    @property
    def final_norm(self) -> bool:
        """Whether a stack wired so needs a norm at its end."""
        return False

    def build(self, width: int, norm: NormConfig) -> Wiring:
        raise TypeError(f"{type(self).__name__} is a family, not a wiring")


class Wiring(nn.Module):
    """Wraps one sublayer; one that norms nothing takes no `norm`."""

    def __init__(self, width: int, norm: NormConfig | None, dropout: float) -> None:
        super().__init__()
        self.width = width
        self.norm: nn.Module = nn.Identity() if norm is None else norm.build(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how to join")


@dataclass(frozen=True)
class PostNorm(ResidualConfig, kind="post-norm"):
    """norm(x + f(x)), as in the first Transformer. Vaswani et al. 2017."""

    def build(self, width: int, norm: NormConfig) -> Wiring:
        return PostNormWiring(width, norm, self.dropout)


class PostNormWiring(Wiring):
    def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
        joined: Tensor = self.norm(self.dropout.add(x, sublayer(x, context)))
        return joined


@dataclass(frozen=True)
class PreNorm(ResidualConfig, kind="pre-norm"):
    """x + f(norm(x)): the stream itself is never normed until the end. arXiv:2002.04745"""

    @property
    def final_norm(self) -> bool:
        return True

    def build(self, width: int, norm: NormConfig) -> Wiring:
        return PreNormWiring(width, norm, self.dropout)


class PreNormWiring(Wiring):
    def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
        return self.dropout.add(x, sublayer(self.norm(x), context))


@dataclass(frozen=True)
class LayerScale(ResidualConfig, kind="layer-scale"):
    """x + γ · f(norm(x)), where each value has a learnt factor γ, at first `start`: a deep stack begins close to the
    identity. Touvron et al. 2021, arXiv:2103.17239"""

    start: Positive = 1e-5

    @property
    def final_norm(self) -> bool:
        return True

    def build(self, width: int, norm: NormConfig) -> Wiring:
        return LayerScaleWiring(width, norm, self.dropout, self.start)


class LayerScaleWiring(Wiring):
    def __init__(self, width: int, norm: NormConfig, dropout: float, start: float) -> None:
        super().__init__(width, norm, dropout)
        self.first = start
        self.scale = nn.Parameter(torch.empty(width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.scale, self.first)

    def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
        return self.dropout.add(x, self.scale * sublayer(self.norm(x), context))
