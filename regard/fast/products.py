"""Products with the matrices of a model in use: no gradients, and often only a few rows, as where text is written token
by token.

What a product of a few rows costs is reading the matrix. MKL leaves all of that work to one core, or reads the matrix
at a third of the memory's speed. Written as a batch of products with slices of the matrix, the slices are shared out
over the cores, and each of them is read once. From some rows on arithmetic counts. There oneDNN is quicker on
processors for which MKL was not made, above all with a matrix that it has laid out for itself ("packed").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.fast import operators

P = TypeVar("P", bound="Packable")

SLICES = 8  # of a matrix, in a product of few rows
MIN_VALUES_TO_SLICE = 1 << 16  # of a matrix: slices or packing pay from there on
MAX_ROWS_TO_SLICE = 64
MAX_ROWS_ALWAYS_SLICED = 4  # also with one thread, and rather than by oneDNN; half of it for a matrix wider than high
MIN_VALUES_FOR_ONEDNN = 1 << 17  # of a matrix that is not packed: a call of oneDNN takes 16 µs, one of MKL 4
MIN_PRODUCTS_FOR_ONEDNN = 1 << 22  # multiplications
MIN_ROWS_TO_PACK = 3
MAX_VALUES_TO_PACK = 1 << 28  # of a model: packed matrices are in memory twice


class Packed:
    """Another copy of a matrix, as oneDNN lays it out for itself: a few rows pass through it up to twice as fast."""

    def __init__(self, weight: Tensor) -> None:
        self.weight, self.version = weight, weight._version
        with torch.inference_mode(False):  # it outlives the search for which it is made
            self.matrix = operators.packed(weight.detach())

    def fits(self, weight: Tensor) -> bool:
        """Whether it still has the values of the matrix."""
        return self.weight is weight and self.version == weight._version


class Packable(nn.Module):
    """A layer of one matrix (outputs, inputs), which may be packed while it is in use."""

    weight: Tensor
    packed: Packed | None = None

    def pack(self) -> None:
        if self.packed is None or not self.packed.fits(self.weight):
            self.packed = Packed(self.weight)

    def train(self: P, mode: bool = True) -> P:
        if mode:
            self.packed = None
        super().train(mode)
        return self

    def _apply(self: P, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> P:
        """To another device or precision: the weight's count of changes does not tell."""
        self.packed = None
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without what is packed: a copy counts the changes of its matrix anew."""
        return {name: value for name, value in self.__dict__.items() if name != "packed"}


def pack(model: nn.Module, rows: int = MIN_ROWS_TO_PACK) -> None:
    """Pack the matrices of a quick model that is about to read so many rows at a time, many times over, where that is
    quicker. A large model is left as it is, for its memory. Whatever changes the weights unpacks them."""
    if rows < MIN_ROWS_TO_PACK:
        return
    layers = [layer for layer in model.modules() if isinstance(layer, Packable) and packable(layer.weight)]
    if sum(layer.weight.numel() for layer in layers) <= MAX_VALUES_TO_PACK:
        for layer in layers:
            layer.pack()


def packable(weight: Tensor) -> bool:
    """Whether oneDNN can lay out a matrix, and rows pass through it quicker then."""
    suits = weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.is_contiguous()
    counted = not weight.is_inference()  # else its changes are not counted, and a packed copy would go stale unseen
    return weight.numel() >= MIN_VALUES_TO_SLICE and suits and counted and operators.offered().packing


def linear(x: Tensor, weight: Tensor, bias: Tensor | None, packed: Packed | None = None) -> Tensor:
    """`F.linear` of x (…, K) and a weight (N, K), in the quickest way for so many rows."""
    if weight.numel() < MIN_VALUES_TO_SLICE:
        return F.linear(x, weight, bias)
    if suits_onednn(x, weight, packed):
        return by_onednn(x, weight, bias, packed)
    if not (suits_slices(x, weight) and in_use(x, weight)):
        return F.linear(x, weight, bias)
    outputs, inputs = weight.shape
    flat = x.reshape(-1, inputs)
    made = sliced_by_outputs(flat, weight) if always_sliced(flat, weight) else sliced_by_rows(flat, weight)
    return (made if bias is None else made.add_(bias)).reshape(*x.shape[:-1], outputs)


def in_use(x: Tensor, weight: Tensor) -> bool:
    """Whether a product on a CPU wants no gradient: the other ways have none."""
    return (
        not torch.is_grad_enabled()
        and weight.device.type == "cpu"
        and weight.dtype == x.dtype == torch.float32
        and weight.is_contiguous()
        and not torch.is_autocast_enabled("cpu")
        and operators.offered().mkl
    )


def suits_onednn(x: Tensor, weight: Tensor, packed: Packed | None = None) -> bool:
    """Whether oneDNN is quicker than MKL for a product, and than slices of the matrix."""
    if packed is not None and packed.fits(weight):
        return x.numel() >= MIN_ROWS_TO_PACK * weight.shape[1] and in_use(x, weight)
    enough = weight.numel() >= MIN_VALUES_FOR_ONEDNN and x.numel() * weight.shape[0] >= MIN_PRODUCTS_FOR_ONEDNN
    return enough and operators.offered().onednn and not always_sliced(x, weight) and in_use(x, weight)


def suits_slices(x: Tensor, weight: Tensor) -> bool:
    """Whether products with slices of a matrix are quicker than MKL's with the whole."""
    rows = x.numel() // weight.shape[1]
    few = 0 < rows <= MAX_ROWS_TO_SLICE and weight.numel() >= MIN_VALUES_TO_SLICE
    return few and (torch.get_num_threads() > 1 or always_sliced(x, weight))


def always_sliced(x: Tensor, weight: Tensor) -> bool:
    """Whether the rows are so few that slices are the quickest way whatever else there is."""
    outputs, inputs = weight.shape
    return x.numel() // inputs <= (MAX_ROWS_ALWAYS_SLICED if outputs >= inputs else MAX_ROWS_ALWAYS_SLICED // 2)


def by_onednn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    packed: Packed | None = None,
    activation: tuple[str, str] = ("none", ""),
) -> Tensor:
    """With the matrix as it is packed, or as it lies. An activation has oneDNN's name and the name of its variant."""
    matrix = packed.matrix if packed is not None and packed.fits(weight) else weight
    return operators.onednn_linear(x, matrix, bias, *activation)


def sliced_by_outputs(x: Tensor, weight: Tensor) -> Tensor:
    """x (rows, K) → (rows, N), by products that make the outputs column by column."""
    (outputs, inputs), rows = weight.shape, len(x)
    columns = x.t()
    rest = outputs % SLICES
    slices = (weight[:-rest] if rest else weight).view(SLICES, -1, inputs)
    made = torch.bmm(slices, columns.expand(SLICES, inputs, rows)).view(-1, rows)
    if rest:
        made = torch.cat([made, weight[-rest:] @ columns])
    return made.view(1, outputs) if rows == 1 else made.t().contiguous()


def sliced_by_rows(x: Tensor, weight: Tensor) -> Tensor:
    """The same, by products that make the outputs row by row."""
    (outputs, inputs), rows = weight.shape, len(x)
    even = outputs - outputs % SLICES
    slices = weight[:even].view(SLICES, -1, inputs).transpose(1, 2)
    made = torch.bmm(x.expand(SLICES, rows, inputs), slices).transpose(0, 1).reshape(rows, even)
    return made if even == outputs else torch.cat([made, x @ weight[even:].t()], dim=1)
