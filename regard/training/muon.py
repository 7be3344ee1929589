"""Muon: momentum, orthogonalised, for the matrices of the blocks. Jordan et al. 2024; arXiv:2502.16982"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised by a Newton-Schulz iteration in fp32, matrices of one shape in one batch.

    PyTorch's own computes in bf16, which a CPU without bf16 units does a hundred times too slowly.
    """

    def __init__(
        self,
        matrices: list[nn.Parameter],
        pieces: dict[int, tuple[int, ...]],
        rate: float,
        momentum: float,
        decay: float,
    ) -> None:
        super().__init__(matrices, {"lr": rate, "momentum": momentum, "weight_decay": decay})
        self.pieces = pieces

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if "momentum" not in self.state[parameter]:
                    self.state[parameter]["momentum"] = torch.zeros_like(parameter)
                average = self.state[parameter]["momentum"]
                average.lerp_(parameter.grad, 1 - group["momentum"])
                update = parameter.grad.lerp(average, group["momentum"])  # Nesterov's look ahead
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                sizes = list(self.pieces[id(parameter)])
                for piece, part in zip(torch.split(parameter, sizes), torch.split(update, sizes), strict=True):
                    by_shape[piece.shape].append((piece, part))
            for shape, entries in by_shape.items():
                steps = orthogonalise(torch.stack([update for _, update in entries]))
                scale = 0.2 * max(shape) ** 0.5  # the size of an AdamW step, root mean square about 0.2
                for (piece, _), change in zip(entries, steps.to(entries[0][0].dtype), strict=True):
                    piece.sub_(change, alpha=group["lr"] * scale)


def orthogonalise(matrices: Tensor, rounds: int = 5) -> Tensor:
    """(N, rows, columns) → nearly the closest matrices whose singular values are all one.

    The quintic iteration of Muon: its coefficients raise small singular values fast and leave all of them near one.
    Each round multiplies by a polynomial of the matrix times its transpose; those are gathered, and the matrix itself,
    the longest factor, is multiplied once.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.float()
    turned = x.shape[-2] > x.shape[-1]
    x = x.mT if turned else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    square, gathered = x @ x.mT, None
    for left in reversed(range(rounds)):
        factor = torch.baddbmm(square, square, square, beta=b, alpha=c)
        factor.diagonal(dim1=-2, dim2=-1).add_(a)
        gathered = factor if gathered is None else factor @ gathered
        if left:
            square = factor @ square @ factor
    x = x if gathered is None else gathered @ x
    orthogonal: Tensor = x.mT if turned else x
    return orthogonal
