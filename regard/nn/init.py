"""Initialisation, per paper, as a slot: it sees the whole model, because some schemes depend on its depth.

A part that is built by itself draws its first values when it is made, Xavier's. Inside a model they would be drawn for
nothing, so a model is put together `left_to_the_model`: then its own scheme decides, and each value is drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Part, Positive

_left: ContextVar[bool] = ContextVar("left", default=False)


@contextmanager
def left_to_the_model() -> Iterator[None]:
    """Matrices and tables that are made in this block, in this thread, draw nothing: who makes them sets all of their
    values afterwards."""
    token = _left.set(True)
    try:
        yield
    finally:
        _left.reset(token)


@dataclass(frozen=True)
class InitConfig(Part, family="init"):
    """The values that matrices and tables start from; biases start at zero, norms at one."""

    def apply(self, model: nn.Module) -> None:
        """Initialise a model; its parts keep the scheme, for whoever asks them to `reset_parameters` later."""
        residuals = writers(model)
        for module in model.modules():
            if isinstance(module, Initialised):
                module.init, module.residuals = self, residuals if module.residual else 1
                module.initialise()

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


class Initialised(nn.Module):
    """A part whose first values a scheme draws: that of its model, or Xavier's where it is built by itself.

    `residual`: it writes to the residual stream, as so many `residuals` do in its model.
    """

    init: InitConfig = Xavier()
    residual = False
    residuals = 1

    def reset_parameters(self) -> None:
        if not _left.get():
            self.initialise()

    @torch.no_grad()
    def initialise(self) -> None:
        """Where there is storage: on the meta device drawing would only take its time."""
        if not any(parameter.is_meta for parameter in self.parameters(recurse=False)):
            self.start()

    def start(self) -> None:
        """Set the first values of its own parameters."""
        raise TypeError(f"{type(self).__name__} does not say how it starts")
