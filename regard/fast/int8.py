"""Matrices as bytes, for models in use on a CPU: a quarter of the memory to read, which is what writing text waits for.

Each output of a matrix has a scale of its own, and its inputs are rounded to bytes as they come (dynamic quantisation,
arXiv:2004.09602). Embeddings, norms and attention stay as they are.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn

from regard.errors import Error
from regard.fast import operators
from regard.fast.layers import FastLinear, FastLinearOutput
from regard.fast.topk import best_words
from regard.fast.twins import plain, quicken
from regard.nn.heads import Head, LinearOutput, capped, exact

M = TypeVar("M", bound=nn.Module)
LARGEST_BYTE = 127


def quantise(model: M) -> M:
    """Turn the matrices of a model into bytes, in place; it can be used from then on, but neither trained nor saved."""
    device = next(model.parameters()).device
    if device.type != "cpu":
        raise Error(f"int8 is for CPUs, the model is on {device}: leave it out, or take --device cpu")
    for parent in reversed(list(quicken(model).modules())):  # what stands inside a head before the head
        for name, child in list(parent.named_children()):
            if isinstance(child, FastLinear):
                setattr(parent, name, Int8Linear(child.weight, child.bias))
            elif isinstance(child, FastLinearOutput):
                setattr(parent, name, Int8Output(child))
    return model


class Int8Linear(nn.Module):
    """A matrix (outputs, inputs) of bytes, with a scale for each output."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        scales = (weight.detach().float().abs().amax(1) / LARGEST_BYTE).clamp(min=torch.finfo(torch.float32).tiny)
        self.scales = nn.Parameter(scales, requires_grad=False)
        self.matrix = operators.int8_matrix(
            weight.detach().float(), scales, None if bias is None else bias.detach().float()
        )
        # Where bytes are added up in 16 bits, two products of whole bytes would overflow: inputs then have 7.
        self.narrow = not operators.offered().sums_in_32_bits

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = operators.int8_linear(x.float(), self.matrix, self.narrow)
        return made.to(x.dtype)


class Int8Output(Head):
    """A head whose matrix is bytes; what stands before it is the head's own."""

    def __init__(self, head: LinearOutput) -> None:
        super().__init__()
        self.head = plain(head)
        self.words = Int8Linear(head.weight, head.bias)

    def logits(self, hidden: Tensor) -> Tensor:
        return capped(self.words(self.head.transform(hidden)), self.head.cap)

    def best(self, hidden: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        return best_words(exact(self.logits(hidden)), count, barred)
