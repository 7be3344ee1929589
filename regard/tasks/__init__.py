"""Tasks: examples → batch, loss, metrics, and how a person uses the result. One file a task."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Import every task, so that recipes can name it by its kind."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
