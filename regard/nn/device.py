"""Where to compute, and in which precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, TypeVar

import torch
from torch import Tensor, nn

from regard.nn.linear import Linear

M = TypeVar("M", bound=nn.Module)
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "fp32", "bf16"]


def choose_device(name: str = "auto") -> torch.device:
    """The named device; by itself a CUDA device, then Apple's, then the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, available in there.items() if available))
    if not there[name]:
        raise ValueError(f"device {name}: this machine or this build of torch has none; take auto or cpu")
    return torch.device(name)


def for_use(model: M, device: str = "auto") -> M:
    """A trained model that will only be used: in eval mode, on the named device or the best.

    On a CPU its matrices are laid out input by input: a few rows pass through them in nine tenths of the time.
    """
    model = model.eval().to(choose_device(device))
    for layer in model.modules():
        if isinstance(layer, Linear) and layer.weight.device.type == "cpu":
            layer.weight.data = layer.weight.data.t().contiguous().t()
    return model


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager[None]:
    """Matrix products in bf16 where it is asked for, or by itself where the device gains: CUDA with bf16 units.

    Never by itself on a CPU: those without bf16 units compute it a hundred times more slowly than fp32.
    """
    gains = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    if precision == "bf16" or (precision == "auto" and gains):
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


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
