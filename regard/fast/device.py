"""Where to compute, and in which precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, TypeVar

import torch
from torch import Tensor, nn

from regard.errors import Error
from regard.fast import operators
from regard.fast.twins import quicken
from regard.nn.heads import Head
from regard.nn.linear import VectorTable

M = TypeVar("M", bound=nn.Module)
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "fp32", "bf16"]
MIN_VALUES_FOR_BF16 = 700_000  # of a model's matrices, on a CPU: smaller ones are quicker in fp32 (docs/experiments.md)


def choose_device(name: str = "auto") -> torch.device:
    """The named device; by itself a CUDA device, then Apple's, then the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, available in there.items() if available))
    if not there[name]:
        raise Error(f"device {name}: this machine or this build of torch has none; take auto or cpu")
    return torch.device(name)


def for_use(model: M, device: str = "auto") -> M:
    """A trained model that will only be used: quick, in eval mode, on the named device or the best."""
    return quicken(model.eval().to(choose_device(device)))


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
    return device.type == "cpu" and multiplied(model) >= MIN_VALUES_FOR_BF16 and operators.cpu_has_bf16()


def multiplied(model: nn.Module) -> int:
    """How many values the matrices have that every token passes through: tables only where they are also the head."""
    tables = {id(module.weight) for module in model.modules() if isinstance(module, VectorTable)}
    shared = {id(p) for module in model.modules() if isinstance(module, Head) for p in module.parameters()}
    return sum(p.numel() for p in model.parameters() if p.dim() > 1 and (id(p) not in tables or id(p) in shared))


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
