"""Contestants of equal size: the width at which a model has as many parameters as another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from regard.config import ConfigError
from regard.models import ModelConfig

Sized = Callable[[int], ModelConfig]  # a model by one number that makes it larger
SIZE_TOLERANCE = 0.03  # relative difference in parameters that is allowed
MAX_WIDTH = 1 << 14


def parameters(config: ModelConfig) -> int:
    """The number of parameters of a model, without building it."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in config.build().parameters())


def matched(model: Sized, wanted: int, name: str = "a model") -> ModelConfig:
    """The config whose number of parameters comes nearest to `wanted`; a difference of more than 3% is refused."""
    low, high = 1, 2
    while parameters(model(high)) < wanted:
        low, high = high, 2 * high
        if high > MAX_WIDTH:
            raise ConfigError(f"{name} of {wanted:,} parameters: there is none")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parameters(model(middle)) < wanted else (low, middle)
    best = min((model(size) for size in (low, high)), key=lambda config: abs(parameters(config) - wanted))
    if abs(parameters(best) / wanted - 1) > SIZE_TOLERANCE:
        raise ConfigError(f"{name} of {wanted:,} parameters: the nearest has {parameters(best):,}")
    return best


def all_matched(
    model: Callable[[Any, int], ModelConfig], parts: Mapping[str, Any], reference: str, size: int
) -> dict[str, ModelConfig]:
    """A model around each of some parts, as large as that around the `reference` is at this size."""
    wanted = parameters(model(parts[reference], size))
    return {name: matched(partial(model, part), wanted, name) for name, part in parts.items()}
