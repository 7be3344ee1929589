"""Looking inside: capture what a model attends to and expects on one input, as plain records.

Records need no torch; it is imported with the first name that computes.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.look.capture import look
    from regard.look.records import Look, Map
    from regard.look.subject import Subject, open_run
    from regard.look.ways import way

__all__ = ["Look", "Map", "Subject", "look", "open_run", "way"]

_HOMES = {"Look": "records", "Map": "records", "Subject": "subject", "look": "capture", "open_run": "subject"}
_HOMES["way"] = "ways"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
