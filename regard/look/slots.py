"""Attention to slots: a kernel that makes a few slots of all keys has weights whose columns are no tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from regard.look.parts import Array, Layer, Side
from regard.models import Model
from regard.nn.stacks import StackLayers


def slot_layers(model: Model) -> set[str]:
    """The names of the attention layers whose columns are slots."""
    stacks = {path.rpartition(".")[2]: part for path, part in model.named_modules() if isinstance(part, StackLayers)}
    return {f"{name}.{role}" for name, stack in stacks.items() for role, mixer in stack.mixers().items() if mixer.slots}


def with_slots(
    model: Model, layers: Sequence[Layer], arrays: Mapping[str, Array]
) -> tuple[list[Layer], dict[str, Side]]:
    """The layers, those that attend to slots with a side of slots for columns; and these sides by name."""
    slotted = slot_layers(model)
    counts = {layer.name: arrays[layer.name].shape[-1] for layer in layers if layer.name in slotted}
    named = [
        replace(layer, columns=f"{counts[layer.name]} slots") if layer.name in counts else layer for layer in layers
    ]
    return named, {f"{count} slots": slots(count) for count in counts.values()}


def slots(count: int) -> Side:
    names, places = [f"slot {number}" for number in range(1, count + 1)], list(range(count))
    return Side("", names, places, names, [*places])
