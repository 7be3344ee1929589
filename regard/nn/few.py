"""Products with the matrices of a model in use: no gradients, and often a few rows alone, as where text is written
token by token.

What a few rows cost is reading the matrix. MKL's product of them leaves all work to one core, or reads the matrix at a
third of the memory's speed; as a batch of products with parts of the matrix it shares out the parts, and reads each of
them once. From some rows on arithmetic counts, and on processors that MKL was not made for oneDNN's is quicker.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

PARTS = 8
LARGE = 1 << 16  # values of a matrix from which on parts pay
FEW, MANY = 4, 64  # rows
LARGER, WORK = 1 << 17, 1 << 22  # values, and products of two, from which on oneDNN pays: a call takes 16 µs, not 4


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`F.linear`, x (…, K), weight (N, K): by other ways where they are quicker."""
    if weight.numel() < LARGE:
        return F.linear(x, weight, bias)
    if suits_onednn(x, weight):
        return by_onednn(x, weight, bias)
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


def suits_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN is quicker than MKL and there is enough to compute for it. Of the fewest rows parts are."""
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


def by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None, then: tuple[str, str] = ("none", "")) -> Tensor:
    """The matrix stays where and as it is: nothing is packed or kept. `then` is what becomes of each value while it is
    at hand, with the way to compute it."""
    what, way = then
    made: Tensor = torch.ops.mkldnn._linear_pointwise(x.contiguous(), weight, bias, what, [], way)
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
