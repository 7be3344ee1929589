"""Options of the form `--a.b value` that name fields of a config."""

from __future__ import annotations

import json
from typing import Any


def read_changes(words: list[str]) -> dict[str, Any]:
    """`["--layers", "2", "--norm", "rms"]` → `{"layers": 2, "norm": "rms"}`; `--name=value` and `--name-part` too."""
    changes: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or word == "--":
            raise ValueError(f"unexpected argument {word!r}; options are written --name value")
        name, equals, value = word[2:].partition("=")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise ValueError(f"option --{name} needs a value")
            value = rest.pop(0)
        changes[name.replace("-", "_")] = read_value(value)
    return changes


def read_value(text: str) -> Any:
    """A number, true, false, null or a JSON list or mapping where it reads as one, else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
