"""Parts whose first values a scheme draws.

A part that is built by itself draws its first values when it is made, Xavier's. Inside a model they would be drawn for
nothing, so a model is put together `left_to_the_model`: then its own scheme (`init.py`) decides, and each value is
drawn once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn

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


class XavierScheme:
    """Uniform by fan-in and fan-out of each matrix, tables normal with deviation 1/sqrt(width)."""

    def matrix(self, weight: Tensor, residuals: int) -> None:
        """One matrix; `residuals` is how many like it write to the residual stream, 1 for one that does not."""
        nn.init.xavier_uniform_(weight)

    def table(self, weight: Tensor) -> None:
        nn.init.normal_(weight, std=weight.shape[-1] ** -0.5)

    def head(self, weight: Tensor) -> None:
        """The matrix of an output head that is not tied to a table."""
        self.table(weight)


class Initialised(nn.Module):
    """A part whose first values a scheme draws. `residual`: it writes to the residual stream, as so many `residuals` do
    in its model."""

    init: XavierScheme = XavierScheme()
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
