"""What a model is made of and what it costs, computed from its structure: no weights, no data, no waiting."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from regard.config import change, to_dict
from regard.description import Description
from regard.errors import Error
from regard.models import Model, ModelConfig, Writer, picture_reader_in
from regard.models.costs import cost_of
from regard.zoo import get as get_preset
from regard.zoo import presets

DTYPES = {"float32": 4, "bfloat16": 2, "int8": 1}


def describe(
    model: str | ModelConfig | Model, *, batch: int = 1, length: int | None = None, **changes: Any
) -> Description:
    """Describe a preset by name (with changes, as `regard.build` takes them), a config, or a model.

    `length` is the number of tokens a row, of source and of target; 128 unless told, or less where the model's
    position table is shorter. A picture has as many as its cells and the tokens in front of them.
    """
    if batch < 1 or (length is not None and length < 1):
        raise Error(f"batch {batch} and length {length}: both take a number of at least 1")
    preset = presets().get(model) if isinstance(model, str) else None
    if isinstance(model, Model):
        network, config = model, model.config
    else:
        config = get_preset(model, **changes) if isinstance(model, str) else change(model, changes)
        with torch.device("meta"):
            network = config.build()
    longest = network.longest
    pictures = None if isinstance(network, Writer) else picture_reader_in(network)
    if pictures is not None:
        if length is not None:
            raise Error(f"length {length}: pictures have a size, not a length: say --side instead")
        length = pictures.states
    elif length is None:
        length = min(128, longest or 128)
    elif longest is not None and length > longest:
        raise Error(f"length {length} is more than the {longest} places of the model's learned position table")
    cost = cost_of(network, batch, length)
    cache, memory = network.cache_values()
    parameters = sum(parameter.numel() for parameter in network.parameters())
    return Description(
        name=model if isinstance(model, str) else type(network).__name__,
        kind=config.kind,
        paper="" if preset is None else preset.paper,
        note="" if preset is None or changes else preset.note,
        published=None if preset is None or changes else preset.published,
        parameters=parameters,
        parts=count_parts(network),
        batch=batch,
        length=length,
        multiply_adds=cost.multiply_adds,
        training_multiply_adds=cost.training,
        weight_bytes={dtype: size * parameters for dtype, size in DTYPES.items()},
        activation_bytes=4 * cost.kept,
        cache_bytes_per_token=4 * cache,
        memory_bytes_per_source_token=4 * memory,
        config=to_dict(config),
    )


PARTS = {
    "attention": "attention",
    "cross": "cross-attention",
    "feedforward": "feed-forward",
    "attention_join": "norms",
    "cross_join": "norms",
    "feedforward_join": "norms",
    "norm": "norms",
    "positions": "positions",
}


def count_parts(model: nn.Module) -> dict[str, int]:
    """Parameters by part ("encoder feed-forward", "embedding"); what is tied is counted once, where it comes first."""
    counts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        top, *inside = name.split(".")
        part = next((PARTS[step] for step in inside if step in PARTS), None)
        label = f"{top} {part}" if part is not None and top in ("encoder", "decoder") else top.replace("_", " ")
        counts[label] = counts.get(label, 0) + parameter.numel()
    return counts
