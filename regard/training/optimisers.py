"""Optimisers: AdamW by PyTorch's fused kernel, and Muon for the hidden matrices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.config import Part, Positive, Rate
from regard.nn.linear import Linear


@dataclass(frozen=True)
class OptimiserConfig(Part, family="optimiser"):
    """What turns gradients into steps. `decay` is decoupled weight decay, on matrices alone."""

    rate: Positive = 1e-3
    beta1: Rate = 0.9
    beta2: Rate = 0.98
    eps: Positive = 1e-9
    decay: Rate = 0.0

    def build(self, model: nn.Module) -> list[torch.optim.Optimizer]:
        raise TypeError(f"{type(self).__name__} is a family, not an optimiser")

    def adam(self, parameters: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        """Weight decay falls on matrices and tables, not on biases and norms."""
        chosen = list(parameters)
        groups = [
            {"params": [p for p in chosen if p.dim() >= 2], "weight_decay": self.decay},
            {"params": [p for p in chosen if p.dim() < 2], "weight_decay": 0.0},
        ]
        groups = [group for group in groups if group["params"]]
        fused = all(p.device.type in ("cpu", "cuda", "mps") and p.is_floating_point() for p in chosen)
        optimiser = torch.optim.AdamW(groups, lr=rate, betas=(self.beta1, self.beta2), eps=self.eps, fused=fused)
        return remember_rates(optimiser)


@dataclass(frozen=True)
class AdamW(OptimiserConfig, kind="adamw"):
    """Adam with decoupled weight decay; betas and epsilon as the Transformer's. arXiv:1711.05101"""

    def build(self, model: nn.Module) -> list[torch.optim.Optimizer]:
        return [self.adam(learning(model), self.rate)]


@dataclass(frozen=True)
class MuonAndAdamW(OptimiserConfig, kind="muon"):
    """Muon for the matrices of the blocks, AdamW (at `rate`) for tables, heads, norms and biases.

    Muon steps by the orthogonalised momentum (Jordan et al. 2024), scaled so that its size is that of Adam's
    (arXiv:2502.16982); matrices that are fused into one are orthogonalised apart.
    """

    matrix_rate: Positive = 1e-2
    momentum: Rate = 0.95

    def build(self, model: nn.Module) -> list[torch.optim.Optimizer]:
        layers = [module for module in model.modules() if isinstance(module, Linear)]
        pieces = {id(layer.weight): layer.pieces for layer in layers}
        matrices = [p for p in learning(model) if id(p) in pieces]
        others = [p for p in learning(model) if id(p) not in pieces]
        muon = [Muon(matrices, pieces, self.matrix_rate, self.momentum, self.decay)] if matrices else []
        return [*map(remember_rates, muon), *([self.adam(others, self.rate)] if others else [])]


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


def learning(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that are not frozen."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def remember_rates(optimiser: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Each group keeps its full rate, which a schedule scales."""
    for group in optimiser.param_groups:
        group["full_rate"] = group["lr"]
    return optimiser


def scale_rates(optimisers: list[torch.optim.Optimizer], factor: float) -> None:
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = group["full_rate"] * factor


# --- state, as named tensors ------------------------------------------------------------------------------------------


def state_tensors(optimisers: list[torch.optim.Optimizer], model: nn.Module) -> dict[str, Tensor]:
    """Everything the optimisers remember, as "parameter/what" → tensor: safe to store, readable by name."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{names[id(parameter)]}/{key}": value
        for optimiser in optimisers
        for parameter, memory in optimiser.state.items()
        for key, value in memory.items()
    }


def put_state(optimisers: list[torch.optim.Optimizer], model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The opposite of `state_tensors`."""
    owner = {id(p): optimiser for optimiser in optimisers for group in optimiser.param_groups for p in group["params"]}
    parameters = dict(model.named_parameters())
    for name, value in tensors.items():
        at, _, key = name.rpartition("/")
        parameter = parameters[at]
        owner[id(parameter)].state[parameter][key] = value
