"""Matrices as bytes, for models in use on a CPU: a quarter of the memory to read, which is what writing text waits for.

Each output of a matrix has a scale of its own, and its inputs are rounded to bytes as they come (dynamic quantisation,
arXiv:2004.09602). Embeddings, norms and attention stay as they are.
"""

from __future__ import annotations

import warnings
from typing import TypeVar

import torch
from torch import Tensor, nn

from regard.errors import Error
from regard.nn.crossentropy import capped
from regard.nn.heads import Head, LinearOutput
from regard.nn.linear import Linear

M = TypeVar("M", bound=nn.Module)
LARGEST = 127

# The operator itself: called by its name, PyTorch first asks in Python whether the matrix is a stand-in for compiling.
multiply = getattr(torch.ops.quantized.linear_dynamic, "_op", torch.ops.quantized.linear_dynamic)


def quantise(model: M) -> M:
    """Turn the matrices of a model into bytes, in place; it can be used from then on, but neither trained nor saved."""
    device = next(model.parameters()).device
    if device.type != "cpu":
        raise Error(f"int8 is for CPUs, the model is on {device}: leave it out, or take --device cpu")
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Linear) and child.called:
                setattr(parent, name, Int8Linear(child.weight, child.bias))
            elif isinstance(child, LinearOutput):
                setattr(parent, name, Int8Output(child))
    return model


class Int8Linear(nn.Module):
    """A matrix (outputs, inputs) of bytes, with a scale for each output."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        scales = (weight.detach().float().abs().amax(1) / LARGEST).clamp(min=torch.finfo(torch.float32).tiny)
        self.scales = nn.Parameter(scales, requires_grad=False)
        self.packed = pack(weight.detach().float(), scales, None if bias is None else bias.detach().float())
        # Where bytes are added up in 16 bits, two products of whole bytes would overflow: inputs then have 7.
        self.narrow = not adds_in_32_bits()

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = multiply(x.float(), self.packed, self.narrow)
        return made.to(x.dtype)


class Int8Output(Head):
    """A head whose matrix is bytes; what stands before it is the head's own."""

    def __init__(self, head: LinearOutput) -> None:
        super().__init__()
        self.head = head
        head.called = False
        self.words = Int8Linear(head.weight, head.bias)

    def logits(self, hidden: Tensor) -> Tensor:
        return capped(self.words(self.head.transform(hidden)), self.head.cap)


def pack(weight: Tensor, scales: Tensor, bias: Tensor | None) -> torch.ScriptObject:
    zeros = torch.zeros(len(weight), dtype=torch.long)
    with warnings.catch_warnings():  # PyTorch means to drop tensors of bytes with a scale, but has nothing as fast yet
        warnings.simplefilter("ignore", UserWarning)
        rounded = torch.quantize_per_channel(weight.contiguous(), scales.double(), zeros, axis=0, dtype=torch.qint8)
        packed: torch.ScriptObject = torch.ops.quantized.linear_prepack(rounded, bias)
    return packed


def adds_in_32_bits() -> bool:
    """Whether the processor multiplies bytes without overflow (VNNI)."""
    return bool(torch.cpu._is_vnni_supported())
