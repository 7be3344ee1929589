"""Initialisation, per paper, as a slot: it sees the whole model, because some schemes depend on its depth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn

from regard.config import Part, Positive
from regard.nn.initialised import Initialised, XavierScheme


@dataclass(frozen=True)
class InitConfig(XavierScheme, Part, family="init"):
    """The values that matrices and tables start from; biases start at zero, norms at one."""

    def apply(self, model: nn.Module) -> None:
        """Initialise a model; its parts keep the scheme, for whoever asks them to `reset_parameters` later."""
        residuals = writers(model)
        for module in model.modules():
            if isinstance(module, Initialised):
                module.init, module.residuals = self, residuals if module.residual else 1
                module.initialise()


@dataclass(frozen=True)
class Xavier(InitConfig, kind="xavier"):
    """Uniform by fan-in and fan-out of each matrix, tables normal with deviation 1/sqrt(width). Tensor2Tensor's."""


@dataclass(frozen=True)
class Normal(InitConfig, kind="normal"):
    """Normal with one deviation; `truncated` at two deviations (BERT), `by_depth`: what writes to the residual stream
    is divided by the root of how often that is done (GPT-2, Megatron-LM); `zero_outputs`: it starts at zero, so that a
    new model passes its embedding on unchanged (arXiv:2003.04887, arXiv:2203.03466). Tables may have a deviation of
    their own."""

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


def writers(model: nn.Module) -> int:
    """How often a pass writes to the residual stream: a block that several layers share does so once in each."""
    applied, found = {"": 1}, 0
    for name, module in model.named_modules(remove_duplicate=False):
        applied[name] = applied[name.rpartition(".")[0]] * getattr(module, "applied", 1)
        found += applied[name] * (isinstance(module, Initialised) and module.residual)
    return found
