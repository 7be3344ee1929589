"""Feed-forward layers: each token by itself, up to `hidden` values and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part, Rate, Size
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by its tanh approximation, as GPT-2 has it. arXiv:1606.08415"""
    return F.gelu(x, approximate="tanh")


def squared_relu(x: Tensor) -> Tensor:
    """max(x, 0)^2. arXiv:2109.08668"""
    return F.relu(x).square()


def identity(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": gelu_tanh,
    "swish": F.silu,
    "elu": F.elu,
    "selu": F.selu,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "relu2": squared_relu,
    "identity": identity,
}

Activation = Literal["relu", "gelu", "gelu-tanh", "swish", "elu", "selu", "sigmoid", "softplus", "relu2"]
Gate = Literal["glu", "geglu", "reglu", "swiglu", "liglu"]

GATES: dict[str, str] = {
    "glu": "sigmoid",
    "geglu": "gelu",
    "reglu": "relu",
    "swiglu": "swish",
    "liglu": "identity",
}


@dataclass(frozen=True)
class FeedForwardConfig(Part, family="feedforward"):
    """What a block does to each token by itself."""

    def build(self, width: int) -> FeedForward:
        raise TypeError(f"{type(self).__name__} is a family, not a feed-forward")


class FeedForward(nn.Module):
    """Maps (B, T, D) and a context to (B, T, D)."""


@dataclass(frozen=True)
class MLP(FeedForwardConfig, kind="mlp"):
    """f(x W1 + b1) W2 + b2. Vaswani et al. 2017, section 3.3. `hidden_dropout` falls on the hidden values."""

    hidden: Size = 2048
    activation: Activation = "relu"
    bias: bool = True
    hidden_dropout: Rate = 0.0

    def build(self, width: int) -> FeedForward:
        return MLPLayer(width, self)


class MLPLayer(FeedForward):
    def __init__(self, width: int, config: MLP) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[config.activation]
        self.up = Linear(width, config.hidden, config.bias)
        self.down = Linear(config.hidden, width, config.bias, residual=True)
        self.dropout = Dropout(config.hidden_dropout)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        hidden = self.dropout(self.activation(self.up(x)))
        result: Tensor = self.down(hidden)
        return result


@dataclass(frozen=True)
class Gated(FeedForwardConfig, kind="gated"):
    """(f(x W) * (x V)) W2: one half of the hidden values gates the other. Shazeer 2020, arXiv:2002.05202.

    At equal size `hidden` is two thirds of an MLP's, since there are three matrices.
    """

    hidden: Size = 1365
    gate: Gate = "swiglu"
    bias: bool = False
    hidden_dropout: Rate = 0.0

    def build(self, width: int) -> FeedForward:
        return GatedLayer(width, self)


class GatedLayer(FeedForward):
    """W and V are one fused matrix, the gate's half first."""

    def __init__(self, width: int, config: Gated) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[GATES[config.gate]]
        hidden = config.hidden
        self.up = Linear(width, 2 * hidden, config.bias, pieces=(hidden, hidden))
        self.down = Linear(hidden, width, config.bias, residual=True)
        self.dropout = Dropout(config.hidden_dropout)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        gate, value = self.up(x).chunk(2, dim=-1)
        hidden = self.dropout(self.activation(gate) * value)
        result: Tensor = self.down(hidden)
        return result
