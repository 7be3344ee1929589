"""Products with the matrices of a model in use: no gradients, and often a few rows alone, as where text is written
token by token.

What a few rows cost is reading the matrix. MKL's product of them leaves all work to one core, or reads the matrix at a
third of the memory's speed; as a batch of products with parts of the matrix it shares out the parts, and reads each of
them once. From some rows on arithmetic counts, and on processors that MKL was not made for oneDNN's is quicker, above
all with a matrix that it has laid out for itself.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PARTS = 8
LARGE = 1 << 16  # values of a matrix from which on parts pay
FEW, MANY = 4, 64  # rows
LARGER, WORK = 1 << 17, 1 << 22  # values, and products of two, from which on oneDNN pays: a call takes 16 µs, not 4
SEVERAL = 3  # rows from which on a matrix that is packed pays
MOST_PACKED = 1 << 28  # values of a model: they are in memory twice


class Packed:
    """Another copy of a matrix, as oneDNN lays it out for itself: a few rows pass through it up to twice as fast."""

    def __init__(self, weight: Tensor) -> None:
        self.weight, self.version = weight, weight._version
        with torch.inference_mode(False):  # it outlives the search for which it is made
            self.matrix: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach())

    def fits(self, weight: Tensor) -> bool:
        """Whether it still has the values of the matrix."""
        return self.weight is weight and self.version == weight._version


class Multiplying(nn.Module):
    """A layer of one matrix (outputs, inputs), which may be packed while it is in use."""

    weight: Tensor
    packed: Packed | None = None
    called = True

    def pack(self) -> None:
        if self.packed is None or not self.packed.fits(self.weight):
            self.packed = Packed(self.weight)

    def train(self, mode: bool = True) -> Multiplying:
        if mode:
            self.packed = None
        super().train(mode)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Multiplying:
        """To another device or precision, of which the count of changes tells nothing."""
        self.packed = None
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without what is packed: a copy counts the changes of its matrix anew."""
        return {name: value for name, value in self.__dict__.items() if name != "packed"}


def pack(model: nn.Module) -> None:
    """Pack the matrices of a model that is about to read several rows at a time, many times over, where that is
    quicker. Those of a large model are left as they are, for its memory."""
    layers = [layer for layer in model.modules() if isinstance(layer, Multiplying) and packable(layer)]
    if sum(layer.weight.numel() for layer in layers) <= MOST_PACKED:
        for layer in layers:
            layer.pack()


def packable(layer: Multiplying) -> bool:
    """Whether rows pass through a matrix that oneDNN can lay out, and quicker then."""
    weight = layer.weight
    suits = weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.is_contiguous()
    there = onednn_is_quicker() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    counted = not weight.is_inference()  # else nobody knows when its values change
    return layer.called and weight.numel() >= LARGE and suits and there and counted


def linear(x: Tensor, weight: Tensor, bias: Tensor | None, packed: Packed | None = None) -> Tensor:
    """`F.linear`, x (…, K), weight (N, K): by other ways where they are quicker."""
    if weight.numel() < LARGE:
        return F.linear(x, weight, bias)
    if suits_onednn(x, weight, packed):
        return by_onednn(x, weight, bias, packed)
    if not (in_parts(x, weight) and in_use(x, weight)):
        return F.linear(x, weight, bias)
    outputs, inputs = weight.shape
    flat = x.reshape(-1, inputs)
    made = by_outputs(flat, weight) if fewest(flat, weight) else by_rows(flat, weight)
    return (made if bias is None else made.add_(bias)).reshape(*x.shape[:-1], outputs)


def in_use(x: Tensor, weight: Tensor) -> bool:
    """Whether no gradient is wanted of a product on a CPU: the other ways have none."""
    return (
        not torch.is_grad_enabled()
        and weight.device.type == "cpu"
        and weight.dtype == x.dtype == torch.float32
        and weight.is_contiguous()
        and not torch.is_autocast_enabled("cpu")
        and torch._C.has_mkl
    )


def suits_onednn(x: Tensor, weight: Tensor, packed: Packed | None = None) -> bool:
    """Whether oneDNN is quicker than MKL and there is enough to compute for it. Of the fewest rows parts are."""
    if packed is not None and packed.fits(weight):
        return x.numel() >= SEVERAL * weight.shape[1] and in_use(x, weight)
    enough = weight.numel() >= LARGER and x.numel() * weight.shape[0] >= WORK
    return enough and onednn_is_quicker() and not fewest(x, weight) and in_use(x, weight)


def in_parts(x: Tensor, weight: Tensor) -> bool:
    """Whether products with parts of a matrix are quicker than MKL's with the whole."""
    rows = x.numel() // weight.shape[1]
    return 0 < rows <= MANY and weight.numel() >= LARGE and (torch.get_num_threads() > 1 or fewest(x, weight))


def fewest(x: Tensor, weight: Tensor) -> bool:
    outputs, inputs = weight.shape
    return x.numel() // inputs <= (FEW if outputs >= inputs else FEW // 2)


@cache
def onednn_is_quicker() -> bool:
    """MKL has its best kernels for the processors of its maker."""
    there = torch._C.has_mkl and torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return there and "AuthenticAMD" in processor()


def processor() -> str:
    """What this machine says of its processor, its maker among it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return next((line for line in lines if line.startswith("vendor_id")), "")
    except OSError:
        return platform.processor()


def by_onednn(
    x: Tensor, weight: Tensor, bias: Tensor | None, packed: Packed | None = None, then: tuple[str, str] = ("none", "")
) -> Tensor:
    """With the matrix as it is packed, or as it lies. `then` is what becomes of each value while it is at hand, with
    the way to compute it."""
    what, way = then
    matrix = packed.matrix if packed is not None and packed.fits(weight) else weight
    made: Tensor = torch.ops.mkldnn._linear_pointwise(x.contiguous(), matrix, bias, what, [], way)
    return made


def by_outputs(x: Tensor, weight: Tensor) -> Tensor:
    """x (rows, K) → (rows, N), made output by output."""
    (outputs, inputs), rows = weight.shape, len(x)
    columns = x.t()
    rest = outputs % PARTS
    parts = (weight[:-rest] if rest else weight).view(PARTS, -1, inputs)
    made = torch.bmm(parts, columns.expand(PARTS, inputs, rows)).view(-1, rows)
    if rest:
        made = torch.cat([made, weight[-rest:] @ columns])
    return made.view(1, outputs) if rows == 1 else made.t().contiguous()


def by_rows(x: Tensor, weight: Tensor) -> Tensor:
    """The same, made row by row."""
    (outputs, inputs), rows = weight.shape, len(x)
    even = outputs - outputs % PARTS
    parts = weight[:even].view(PARTS, -1, inputs).transpose(1, 2)
    made = torch.bmm(x.expand(PARTS, rows, inputs), parts).transpose(0, 1).reshape(rows, even)
    return made if even == outputs else torch.cat([made, x @ weight[even:].t()], dim=1)
