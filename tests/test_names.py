"""One name, one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import regard

ROOT = Path(regard.__file__).parent
MIRRORS = "studio/schemas.py"  # a schema of the HTTP API has the name of the record that it mirrors


def classes() -> dict[str, list[str]]:
    """Where each name of a class stands."""
    found = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(ROOT).as_posix())
    return found


def test_the_name_of_a_class_stands_once() -> None:
    places = {name: [place for place in found if place != MIRRORS] for name, found in classes().items()}
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
