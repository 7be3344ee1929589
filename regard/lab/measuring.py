"""What a layer costs as its input grows, measured: time, memory, and how its operations depend on each other."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.lab.pace import clock
from regard.nn.attention import Mixer
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask

MIN_SECONDS = 0.15  # a measurement repeats until it took this long
MIN_REPEATS = 3  # of a measurement

Layer = Callable[[Tensor], Tensor]  # (B, T, D) → (B, T, D)


def alone(module: Mixer) -> Layer:
    """A mixer as a function of its input alone, in a call of its own."""
    return lambda x: module(x, Context.whole(x, Mask(causal=True)))


def timed(layer: Layer, x: Tensor) -> tuple[float, float]:
    """Seconds of a forward pass and of the backward pass after it, the quickest of some repeats."""
    forward, backward, spent, rounds = [], [], 0.0, 0
    while rounds < MIN_REPEATS or spent < MIN_SECONDS:
        start = clock(x.device)
        total = layer(x).sum()
        middle = clock(x.device)
        total.backward()  # type: ignore[no-untyped-call]
        end = clock(x.device)
        forward.append(middle - start)
        backward.append(end - middle)
        spent, rounds = spent + end - start, rounds + 1
    return min(forward), min(backward)


def kept_bytes(layer: Layer, x: Tensor, owned: set[int]) -> int:
    """What autograd keeps of a forward pass for the backward pass: every storage once, but not those that are `owned`,
    the weights."""
    found: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = layer(x)  # held until all is counted, so that no place in memory comes twice
    total = sum(size for place, size in found.items() if place not in owned)
    del out
    return total


def chain(out: Tensor) -> int:
    """The longest chain of operations that must wait for each other, in what autograd recorded."""
    depth: dict[object, int] = {}
    stack = [out.grad_fn]
    while stack:
        node = stack[-1]
        inputs = [one for one, _ in node.next_functions if one is not None] if node is not None else []
        missing = [one for one in inputs if one not in depth]
        if missing:
            stack.extend(missing)
        else:
            depth[stack.pop()] = 1 + max((depth[one] for one in inputs), default=0)
    return depth[out.grad_fn]


def reach(layer: Layer, length: int, width: int) -> int:
    """How many places back the last output still depends on the input, by its gradient."""
    x = torch.randn(1, length, width, dtype=torch.float64, requires_grad=True)
    layer(x)[0, -1].sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    seen = (x.grad[0].abs().sum(-1) > 0).nonzero()
    return length - 1 - int(seen.min())
