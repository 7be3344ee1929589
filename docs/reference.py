"""A page of reference for each room, made of the docstrings of its modules; mkdocs calls this as a hook."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "regard"
LEFT_OUT = ("cli", "studio", "__main__")  # `--help` and `/openapi.json` are their reference
DATA = "regard.data.sources"  # a module a data set; `regard list data` names them


def rooms() -> dict[str, list[Path]]:
    """The modules of each room, a folder or a file of the package, in the order of their names."""
    found: dict[str, list[Path]] = {"regard": [PACKAGE / "__init__.py"]}
    for entry in sorted(PACKAGE.iterdir()):
        if entry.suffix == ".py" and entry.stem not in (*LEFT_OUT, "__init__"):
            found[f"regard.{entry.stem}"] = [entry]
        elif (entry / "__init__.py").exists() and entry.name not in LEFT_OUT:
            found[f"regard.{entry.name}"] = sorted(entry.rglob("*.py"))
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def page(room: str, paths: list[Path]) -> str:
    return "\n".join([f"# {room}", *entries(room, paths)]) + "\n"


def entries(room: str, paths: list[Path]) -> Iterator[str]:
    """What mkdocstrings is asked for: each module that says what it is."""
    for path in paths:
        name = name_of(path)
        if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) and not name.startswith(DATA):
            yield f"\n::: {name}"


def on_config(config: Any) -> Any:
    """The pages stand in the navigation under Reference."""
    section = next(one for one in config.nav if isinstance(one, dict) and "Reference" in one)
    section["Reference"] = [{room: f"reference/{room}.md"} for room in rooms()]
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for room, paths in rooms().items():
        files.append(File.generated(config, f"reference/{room}.md", content=page(room, paths)))
    return files
