"""PyTorch's undocumented operators, and a probe of what this version and this processor offer.

Nothing else in regard calls them. Each is looked for before it is used: without it a layer takes the documented way.
"""

from __future__ import annotations

import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PROBE_SECONDS = 5.0  # how long a copy of this process may try bf16


@dataclass(frozen=True)
class Offer:
    """What there is beside the documented operators.

    `mkl`: the documented products are MKL's, so that parts of a matrix may be quicker than the whole. `onednn`: its
    product is there, and quicker than MKL's. `packing`: it can lay out a matrix for itself. `sums_in_32_bits`: the
    processor adds up products of bytes without overflow (VNNI).
    """

    mkl: bool
    onednn: bool
    packing: bool
    sums_in_32_bits: bool


@cache
def offered() -> Offer:
    """By this version of PyTorch on this processor. MKL has its best kernels for the processors of its maker, so that
    on those oneDNN is never quicker. The maker decides, not a trial at the start: a machine always gives the same
    numbers."""
    mkl = bool(torch._C.has_mkl)
    there = mkl and torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    onednn = there and "AuthenticAMD" in processor()
    packing = onednn and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    return Offer(mkl, onednn, packing, bool(torch.cpu._is_vnni_supported()))


def processor() -> str:
    """What this machine says of its processor, its maker among it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return next((line for line in lines if line.startswith("vendor_id")), "")
    except OSError:
        return platform.processor()


# --- products by oneDNN -----------------------------------------------------------------------------------------------


def packed(weight: Tensor) -> Tensor:
    """Another copy of a matrix, as oneDNN lays it out for itself."""
    matrix: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight)
    return matrix


def onednn_linear(
    x: Tensor, matrix: Tensor, bias: Tensor | None, activation: str = "none", variant: str = ""
) -> Tensor:
    """x (…, K) through a matrix (N, K), packed or as it lies; the activation is applied while a value is at hand."""
    made: Tensor = torch.ops.mkldnn._linear_pointwise(x.contiguous(), matrix, bias, activation, [], variant)
    return made


# --- products of bytes ------------------------------------------------------------------------------------------------


def int8_matrix(weight: Tensor, scales: Tensor, bias: Tensor | None) -> torch.ScriptObject:
    """A matrix (N, K) rounded to bytes, with a scale for each of its rows."""
    zeros = torch.zeros(len(weight), dtype=torch.long)
    with warnings.catch_warnings():  # PyTorch means to drop tensors of bytes with a scale, but has nothing as fast yet
        warnings.simplefilter("ignore", UserWarning)
        rounded = torch.quantize_per_channel(weight.contiguous(), scales.double(), zeros, axis=0, dtype=torch.qint8)
        matrix: torch.ScriptObject = torch.ops.quantized.linear_prepack(rounded, bias)
    return matrix


# The operator itself: called by its name, PyTorch first asks in Python whether the matrix is a stand-in for compiling.
int8_linear = getattr(torch.ops.quantized.linear_dynamic, "_op", torch.ops.quantized.linear_dynamic)


# --- recurrent layers -------------------------------------------------------------------------------------------------

SEQUENCES: dict[str, Callable[..., tuple[Tensor, ...]]] = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}
CELLS: dict[str, Callable[..., Any]] = {"rnn": torch.rnn_tanh_cell, "gru": torch.gru_cell, "lstm": torch.lstm_cell}


# --- many tensors in one call -----------------------------------------------------------------------------------------


def divide_each(tensors: list[Tensor], by: float) -> None:
    """In place."""
    torch._foreach_div_(tensors, by)


def move_each(tensors: list[Tensor], towards: list[Tensor], share: float) -> None:
    """In place, by this share of the way."""
    torch._foreach_lerp_(tensors, towards, share)


# --- units for bf16 ---------------------------------------------------------------------------------------------------


@cache
def cpu_has_bf16() -> bool:
    """Whether this processor multiplies bf16 in units of its own. What it says of itself is tried out by a copy of
    this process first: some virtual machines name units that end whoever uses them."""
    named = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    if not (named.get("avx512_bf16") or named.get("amx_bf16")) or sys.platform != "linux":
        return False
    if not torch._C._has_mkldnn:
        return False
    with warnings.catch_warnings():  # of other threads: the copy asks nothing of them
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            torch.set_num_threads(1)
            some = torch.ones(64, 64, dtype=torch.bfloat16)
            os._exit(0 if bool((some @ some == 64).all()) else 1)
        finally:
            os._exit(1)
    ends = time.monotonic() + PROBE_SECONDS
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False
