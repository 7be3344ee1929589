"""Low-rank adapters: a trained matrix stays as it is, and what it learns anew is the product of two thin ones.

W x + (scale / rank) · B (A x), where B starts at zero, so that nothing is changed at first. Hu et al. 2021,
arXiv:2106.09685. Merged, they are one matrix again, of the old shape and under its old name.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.linear import Linear, Matrix, normal_


class AdaptedLinear(Linear):
    """A frozen matrix under its own name, with `down` (rank, inputs) and `up` (outputs, rank) beside it."""

    factor: float
    down: Tensor
    up: Tensor

    def start(self) -> None:
        super().start()
        self.start_adapter()

    def start_adapter(self) -> None:
        normal_(self.down, std=self.in_features**-0.5)
        nn.init.zeros_(self.up)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + F.linear(F.linear(x, self.down), self.up) * self.factor


def adapted(layer: Linear, rank: int, scale: float) -> AdaptedLinear:
    """The layer itself, from now on with an adapter, which alone learns."""
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    layer.__class__ = AdaptedLinear
    assert isinstance(layer, AdaptedLinear)
    layer.factor, like = scale / rank, layer.weight.detach()
    layer.down = nn.Parameter(like.new_empty(rank, layer.in_features))
    layer.up = nn.Parameter(like.new_empty(layer.out_features, rank))
    layer.start_adapter()
    return layer


def adapt(model: nn.Module, rank: int, scale: float) -> None:
    """Give every matrix inside an adapter, in place; nothing else of the model learns from then on."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parent in list(model.modules()):
        for child in parent.children():
            if isinstance(child, Linear) and not isinstance(child, AdaptedLinear | Matrix):
                adapted(child, rank, scale)


def merged(model: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a model by name, with its adapters merged into their matrices: what the plain model has."""
    found = dict(weights)
    for name, layer in model.named_modules():
        if isinstance(layer, AdaptedLinear):
            up, down = found.pop(f"{name}.up"), found.pop(f"{name}.down")
            found[f"{name}.weight"] = found[f"{name}.weight"] + up @ down * layer.factor
    return found


@torch.no_grad()
def merge(model: nn.Module) -> None:
    """Turn a model with adapters into the plain one, in place."""
    for layer in model.modules():
        if isinstance(layer, AdaptedLinear):
            layer.weight += layer.up @ layer.down * layer.factor
            del layer.up, layer.down
            layer.__class__ = Linear  # type: ignore[assignment]
