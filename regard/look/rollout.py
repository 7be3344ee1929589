"""Attention rollout: attention followed from the last layer to the input. Abnar and Zuidema 2020, arXiv:2005.00928."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.look.parts import Array, Layer, Rollout
from regard.look.slots import slot_layers
from regard.look.subject import Subject
from regard.nn.stacks import StackLayers


def all_blocks(subject: Subject) -> bool:
    """Whether every layer is a block with a residual stream, from end to end as long as the text, that attends to
    tokens; recurrent layers have none."""
    stacks = [getattr(subject.body, stack, None) for stack in subject.stacks.values()]
    whole = all(isinstance(stack, StackLayers) and not stack.shortens for stack in stacks)
    return whole and not slot_layers(subject.model)


def rollouts(layers: Sequence[Layer], arrays: dict[str, Array]) -> tuple[list[Rollout], dict[str, Array]]:
    """Of each stack, and from the target through both stacks to the source, where there are two.

    A layer passes half of each token on by the residual stream and half by the mean of its heads. A decoder's stream
    carries two shares, of its own tokens and of the source's: each layer mixes both through self-attention, and
    cross-attention brings in the source as the encoder's rollout shows it. There is none where a layer has other rows
    than columns, or where blocks make a sequence shorter and longer again.
    """
    lengths = {(layer.stack, layer.rows) for layer in layers}
    if len(lengths) > len({stack for stack, _ in lengths}) or not all(looks_inside(layer) for layer in layers):
        return [], {}
    found: list[Rollout] = []
    maps: dict[str, Array] = {}
    source: Array | None = None
    for stack, side in dict.fromkeys((layer.stack, layer.rows) for layer in layers):
        inside = [layer for layer in layers if layer.stack == stack]
        own: Array = np.eye(arrays[inside[0].name].shape[1], dtype=np.float32)
        other: Array | None = None
        for layer in inside:
            weights = arrays[layer.name].mean(0)
            if layer.role == "cross" and source is not None:
                start = np.zeros((len(own), source.shape[1]), dtype=np.float32) if other is None else other
                own, other = 0.5 * own, 0.5 * start + 0.5 * weights @ source
            elif layer.rows == layer.columns:
                own = halved(weights) @ own
                other = None if other is None else halved(weights) @ other
        found.append(Rollout(f"{stack}.rollout", side, side))
        maps[f"{stack}.rollout"] = own[None]
        if other is not None:
            found.append(Rollout("cross.rollout", side, "source"))
            maps["cross.rollout"] = other[None]
        source = own
    return found, maps


def looks_inside(layer: Layer) -> bool:
    """Whether it looks at its own sequence, or at another stack's."""
    return layer.role == "cross" or layer.rows == layer.columns


def halved(weights: Array) -> Array:
    """Half the identity of the residual stream, half the attention weights."""
    return np.asarray(0.5 * np.eye(len(weights), dtype=np.float32) + 0.5 * weights)
