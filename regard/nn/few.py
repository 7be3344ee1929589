"""A few rows through a large matrix, as where text is written token by token: what it costs is reading the matrix.

MKL's product of a few rows leaves all work to one core, or reads the matrix at a third of the memory's speed. As a
batch of products with parts of the matrix it shares out the parts, and reads each of them once.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

PARTS = 8
LARGE = 1 << 16  # values of a matrix from which on parts pay
FEW, MANY = 4, 64  # rows


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`F.linear`, x (…, K), weight (N, K): in parts where that is quicker."""
    if not in_parts(x, weight):
        return F.linear(x, weight, bias)
    outputs, inputs = weight.shape
    flat = x.reshape(-1, inputs)
    made = by_outputs(flat, weight) if fewest(flat, weight) else by_rows(flat, weight)
    return (made if bias is None else made.add_(bias)).reshape(*x.shape[:-1], outputs)


def in_parts(x: Tensor, weight: Tensor) -> bool:
    """Whether products with parts of a matrix are quicker than MKL's with the whole; they have no gradients."""
    rows = x.numel() // weight.shape[1]
    return (
        0 < rows <= MANY
        and weight.numel() >= LARGE
        and weight.device.type == "cpu"
        and weight.dtype == x.dtype == torch.float32
        and weight.is_contiguous()
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and torch._C.has_mkl
        and (torch.get_num_threads() > 1 or fewest(x, weight))
    )


def fewest(x: Tensor, weight: Tensor) -> bool:
    outputs, inputs = weight.shape
    return x.numel() // inputs <= (FEW if outputs >= inputs else FEW // 2)


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
