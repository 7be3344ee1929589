"""Rooms import only from rooms on a lower level, or from themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import regard

ROOT = Path(regard.__file__).parent
LEVELS = {
    "errors": -2,
    "extensions": -1,
    "config": 0,
    "data": 1,
    "metrics": 2,
    "nn": 1,
    "page": 1,
    "models": 2,
    "zoo": 3,
    "checkpoint": 3,
    "decoding": 3,
    "anatomy": 4,
    "look": 4,
    "interop": 4,
    "tasks": 5,
    "training": 6,
    "lab": 7,
    "studio": 7,
    "cli": 8,
    "__main__": 9,
}


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The rooms of regard that a file imports, inside functions too."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("regard.")}
    return rooms


def test_every_room_has_a_level() -> None:
    rooms = {room(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert rooms == set(LEVELS)


def test_rooms_import_only_from_lower_levels() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} (level {LEVELS[room(path)]}) imports {other} (level {LEVELS[other]})"
        for path in ROOT.rglob("*.py")
        if room(path) != "__init__"
        for other in imports(path)
        if other != room(path) and LEVELS[other] >= LEVELS[room(path)]
    ]
    assert wrong == []
