"""Matrices and tables, whose first values a scheme draws."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.nn.initialised import Initialised


class Linear(Initialised, nn.Linear):
    """`pieces`: the output widths of the matrices fused into one; `residual`: it writes to the residual stream.

    `alike`: so many of the first pieces start from the same values, as queries and keys that are to match.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        bias: bool = True,
        pieces: tuple[int, ...] = (),
        residual: bool = False,
        alike: int = 1,
    ) -> None:
        self.pieces = pieces or (outputs,)
        self.alike = alike
        self.residual = residual
        assert sum(self.pieces) == outputs
        super().__init__(inputs, outputs, bias)

    def start(self) -> None:
        pieces = torch.split(self.weight, list(self.pieces))
        for piece in pieces:
            self.init.matrix(piece, self.residuals)
        for piece in pieces[1 : self.alike]:
            piece.copy_(pieces[0])
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class Matrix(Linear):
    """One with which another layer computes itself, so that no layer that only answers calls can take its place."""


class VectorTable(Initialised, nn.Embedding):
    """A vector per entry: per token, place or segment."""

    def start(self) -> None:
        self.init.table(self.weight)


def normal_(tensor: Tensor, std: float) -> None:
    """Fill with normal values; nothing to do where there is no storage (on the meta device this would be slow)."""
    if not tensor.is_meta:
        nn.init.normal_(tensor, std=std)
