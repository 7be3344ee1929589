"""Where to compute, and in which precision."""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Literal, TypeVar

import torch
from torch import Tensor, nn

from regard.errors import Error
from regard.nn.heads import Head
from regard.nn.linear import Table

M = TypeVar("M", bound=nn.Module)
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "fp32", "bf16"]
WORTH = 700_000  # values of the matrices from which on bf16 is quicker on a CPU (docs/experiments.md)
PATIENCE = 5.0  # seconds


def choose_device(name: str = "auto") -> torch.device:
    """The named device; by itself a CUDA device, then Apple's, then the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, available in there.items() if available))
    if not there[name]:
        raise Error(f"device {name}: this machine or this build of torch has none; take auto or cpu")
    return torch.device(name)


def for_use(model: M, device: str = "auto") -> M:
    """A trained model that will only be used: in eval mode, on the named device or the best."""
    return model.eval().to(choose_device(device))


def autocast(model: nn.Module, precision: Precision) -> AbstractContextManager[None]:
    """Matrix products in bf16 where it is asked for, or by itself where the device gains from it."""
    device = next(model.parameters()).device
    if precision == "bf16" or (precision == "auto" and gains(device, model)):
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


def gains(device: torch.device, model: nn.Module) -> bool:
    """Whether training in bf16 is quicker: on CUDA devices with bf16 units; on processors with such units where the
    products are large enough to pay for turning numbers into it and back. Those without are a hundred times slower."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and multiplied(model) >= WORTH and cpu_has_bf16()


def multiplied(model: nn.Module) -> int:
    """How many values the matrices have that every token passes through: tables only where they are also the head."""
    tables = {id(module.weight) for module in model.modules() if isinstance(module, Table)}
    shared = {id(p) for module in model.modules() if isinstance(module, Head) for p in module.parameters()}
    return sum(p.numel() for p in model.parameters() if p.dim() > 1 and (id(p) not in tables or id(p) in shared))


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
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Of the generators that training on this device draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def put_random_state(states: dict[str, Tensor]) -> None:
    """The opposite of `random_state`."""
    torch.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"])
    if "mps" in states:
        torch.mps.set_rng_state(states["mps"])
