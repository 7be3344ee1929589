"""Named models: each preset is a config, the paper it comes from, and the size that paper states.

Every module of this package is read; it lists its presets in `PRESETS`. An ordinary new model is one entry there.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from regard import extensions
from regard.config import ConfigError, change, nearest
from regard.models import Model, ModelConfig
from regard.zoo.base import Preset

__all__ = ["Preset", "build", "get", "presets"]


def presets() -> Mapping[str, Preset]:
    """All presets by name, those of modules from outside included."""
    found = dict(own_presets())
    for preset in extensions.offered("PRESETS"):
        if preset.name in found:
            raise ConfigError(f"two presets are called {preset.name}")
        found[preset.name] = preset
    return found


@functools.cache
def own_presets() -> Mapping[str, Preset]:
    """Those of this room."""
    found: dict[str, Preset] = {}
    for module in pkgutil.iter_modules(__path__):
        for preset in getattr(importlib.import_module(f"{__name__}.{module.name}"), "PRESETS", ()):
            assert preset.name not in found, f"two presets are called {preset.name}"
            found[preset.name] = preset
    return found


def get(name: str, **changes: Any) -> ModelConfig:
    """The config of a preset, with changes as `regard.config.change` takes them."""
    if name not in presets():
        raise ConfigError(f"unknown preset {name!r}: {nearest(name, presets())}")
    return change(presets()[name].config, changes)


def build(name: str | ModelConfig, **changes: Any) -> Model:
    """A model with fresh weights: `build("gpt2", layers=2, vocabulary=1000)`."""
    config = get(name, **changes) if isinstance(name, str) else change(name, changes)
    return config.build()
