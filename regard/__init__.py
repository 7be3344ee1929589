"""Attention models: build them from parts, train them, run them, look inside.

Importing this package is quick; torch is imported with the first name that computes.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.anatomy import describe
    from regard.description import Description
    from regard.errors import Error
    from regard.extensions import bring
    from regard.nn.call.masks import Mask
    from regard.nn.call.watch import watch
    from regard.tasks import load
    from regard.tasks.evaluating import evaluate
    from regard.training.recipes import train
    from regard.zoo import build, presets

__version__ = "0.1.0.dev0"
__all__ = [
    "Description",
    "Error",
    "Mask",
    "bring",
    "build",
    "describe",
    "evaluate",
    "load",
    "presets",
    "train",
    "watch",
]

_HOMES = {
    "Description": "regard.description",
    "Error": "regard.errors",
    "Mask": "regard.nn.call.masks",
    "bring": "regard.extensions",
    "build": "regard.zoo",
    "describe": "regard.anatomy",
    "evaluate": "regard.tasks.evaluating",
    "load": "regard.tasks",
    "presets": "regard.zoo",
    "train": "regard.training.recipes",
    "watch": "regard.nn.call.watch",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value  # submodules of the same name must not hide it later
    return value


def __dir__() -> list[str]:
    return __all__
