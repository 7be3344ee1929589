"""Optimisers by their configs, and the rates that a schedule scales."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

from regard.config import Part, Positive, Rate
from regard.nn.linear import Linear
from regard.training.muon import Muon


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
