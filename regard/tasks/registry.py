"""Which tasks there are."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path


def register() -> None:
    """Import every task, so that recipes can name it by its kind."""
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], "regard.tasks."):
        importlib.import_module(module.name)
