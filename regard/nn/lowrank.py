"""Low-rank adapters: a trained matrix stays as it is, and what it learns anew is the product of two thin ones.

W x + (scale / rank) · B (A x), where B starts at zero, so that nothing is changed at first. Hu et al. 2021,
arXiv:2106.09685. Merged, they are one matrix again, of the old shape and under its old name.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.init import left_to_the_model
from regard.nn.linear import Linear, Matrix, normal_


class AdaptedLinear(Linear):
    """A frozen matrix under its own name, with `down` (rank, inputs) and `up` (outputs, rank) beside it."""

    def __init__(self, layer: Linear, rank: int, scale: float) -> None:
        with left_to_the_model():
            super().__init__(
                layer.in_features,
                layer.out_features,
                layer.bias is not None,
                layer.pieces,
                layer.residual,
                alike=layer.alike,
            )
        self.init, self.residuals = layer.init, layer.residuals
        self.weight, self.bias = layer.weight, layer.bias
        for parameter in layer.parameters():
            parameter.requires_grad_(False)
        self.factor = scale / rank
        like = layer.weight.detach()
        self.down = nn.Parameter(like.new_empty(rank, self.in_features))
        self.up = nn.Parameter(like.new_empty(self.out_features, rank))
        self.start_adapter()

    def start(self) -> None:
        super().start()
        self.start_adapter()

    def start_adapter(self) -> None:
        normal_(self.down, std=self.in_features**-0.5)
        nn.init.zeros_(self.up)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + F.linear(F.linear(x, self.down), self.up) * self.factor


def adapt(model: nn.Module, rank: int, scale: float) -> None:
    """Give every matrix inside an adapter, in place; nothing else of the model learns from then on."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Linear) and not isinstance(child, AdaptedLinear | Matrix):
                setattr(parent, name, AdaptedLinear(child, rank, scale))


def merged(model: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a model by name, with its adapters merged into their matrices: what the plain model has."""
    found = dict(weights)
    for name, layer in model.named_modules():
        if isinstance(layer, AdaptedLinear):
            up, down = found.pop(f"{name}.up"), found.pop(f"{name}.down")
            found[f"{name}.weight"] = found[f"{name}.weight"] + up @ down * layer.factor
    return found


def plain_of(layer: AdaptedLinear) -> Linear:
    """The matrix without its adapter."""
    with left_to_the_model():
        plain = Linear(
            layer.in_features,
            layer.out_features,
            layer.bias is not None,
            layer.pieces,
            layer.residual,
            alike=layer.alike,
        )
    plain.init, plain.residuals = layer.init, layer.residuals
    plain.weight, plain.bias = layer.weight, layer.bias
    return plain


def merge(model: nn.Module) -> None:
    """Turn a model with adapters into the plain one, in place."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, AdaptedLinear):
                plain = plain_of(child)
                with torch.no_grad():
                    plain.weight += child.up @ child.down * child.factor
                setattr(parent, name, plain)
