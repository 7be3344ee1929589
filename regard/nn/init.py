"""Initialisation, per paper, as a slot: it sees the whole model, because some schemes depend on its depth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Part, Positive
from regard.nn.heads import LinearOutput
from regard.nn.linear import Linear, Table


@dataclass(frozen=True)
class InitConfig(Part, family="init"):
    """The values that matrices and tables start from; biases start at zero, norms at one."""

    def apply(self, model: nn.Module) -> None:
        residuals = sum(isinstance(module, Linear) and module.residual for module in model.modules())
        for module in model.modules():
            if isinstance(module, Linear):
                pieces = torch.split(module.weight, list(module.pieces))
                for piece in pieces:
                    self.matrix(piece, residuals if module.residual else 1)
                for piece in pieces[1 : module.alike]:
                    piece.copy_(pieces[0])
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, Table):
                self.table(module.weight)
            elif isinstance(module, LinearOutput) and not module.tied:
                self.head(module.weight)

    def matrix(self, weight: Tensor, residuals: int) -> None:
        """One matrix; `residuals` is how many like it write to the residual stream, 1 for one that does not."""
        raise TypeError(f"{type(self).__name__} is a family, not an initialisation")

    def table(self, weight: Tensor) -> None:
        raise TypeError(f"{type(self).__name__} is a family, not an initialisation")

    def head(self, weight: Tensor) -> None:
        """The matrix of an output head that is not tied to a table."""
        self.table(weight)


@dataclass(frozen=True)
class Xavier(InitConfig, kind="xavier"):
    """Uniform by fan-in and fan-out of each matrix, tables normal with deviation 1/sqrt(width). Tensor2Tensor's."""

    def matrix(self, weight: Tensor, residuals: int) -> None:
        nn.init.xavier_uniform_(weight)

    def table(self, weight: Tensor) -> None:
        nn.init.normal_(weight, std=weight.shape[-1] ** -0.5)


@dataclass(frozen=True)
class Normal(InitConfig, kind="normal"):
    """Normal with one deviation; `truncated` at two deviations (BERT), `by_depth`: what writes to the residual stream
    is divided by the root of their number (GPT-2, Megatron-LM); `zero_outputs`: it starts at zero, so that a new model
    passes its embedding on unchanged (arXiv:2003.04887, arXiv:2203.03466). Tables may have a deviation of their
    own."""

    std: Positive = 0.02
    truncated: bool = False
    by_depth: bool = False
    zero_outputs: bool = False
    table_std: Positive | None = None

    def matrix(self, weight: Tensor, residuals: int) -> None:
        if self.zero_outputs and residuals > 1:
            nn.init.zeros_(weight)
            return
        self._draw(weight, self.std / math.sqrt(residuals) if self.by_depth else self.std)

    def table(self, weight: Tensor) -> None:
        self._draw(weight, self.table_std or self.std)

    def head(self, weight: Tensor) -> None:
        self._draw(weight, self.std)

    def _draw(self, weight: Tensor, std: float) -> None:
        if self.truncated:
            nn.init.trunc_normal_(weight, std=std, a=-2 * std, b=2 * std)
        else:
            nn.init.normal_(weight, std=std)
