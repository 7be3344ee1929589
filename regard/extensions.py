"""What comes from outside: parts, presets, tasks, data sets and experiments of one's own, in a file or in a package.

A class with a `kind` registers itself when its module is imported; lists named `PRESETS` and `DATA_SETS` are read as
ours are. A module is imported because a person asks for it (`--import my_parts.py`, or `regard.bring("my_parts.py")` in
Python; a plain `import` registers the classes, and leaves the lists alone), or because an installed package offers it
by an entry point of the group `regard.parts`. A run folder never imports anything: it
says what it needs, so a folder from a stranger runs no code.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from regard.errors import Error

GROUP = "regard.parts"  # of entry points
_asked: dict[str, str] = {}  # the names of imported modules → how a person asked for them


def bring(name: str) -> ModuleType:
    """Import a file (`my_parts.py`) or a module (`my.parts`) with parts of one's own, once."""
    module = from_file(Path(name)) if is_file(name) else from_name(name)
    _asked[module.__name__] = name
    return module


def is_file(name: str) -> bool:
    """Whether `--import` names a file, not a module."""
    return name.endswith(".py")


def from_file(path: Path) -> ModuleType:
    """The module of a file; it has the name of the file."""
    if not path.is_file():
        raise Error(f"--import {path}: there is no such file")
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and at(known.__file__, path):
        return known
    found = known.__spec__ if known is not None else importlib.util.find_spec(name)
    if found is not None and not at(found.origin, path):
        raise Error(f"--import {path}: a module called {name} is there already; give the file another name")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # first, since types of dataclasses are looked up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def at(place: str | None, path: Path) -> bool:
    """Whether a module comes from this file."""
    return place is not None and Path(place).resolve() == path.resolve()


def from_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there; something that it imports is not
        hint = f"; a file is written {name}.py" if "." not in name else ""
        raise Error(f"--import {name}: there is no such module{hint}") from error


@functools.cache
def installed() -> tuple[str, ...]:
    """Import what installed packages offer, once; the names of their modules."""
    for point in entry_points(group=GROUP):
        try:
            module = point.load()
        except Exception as error:
            raise Error(
                f"the package that offers {point.name} = {point.value} cannot be imported; mend it or uninstall it "
                f"({type(error).__name__}: {error})"
            ) from error
        if isinstance(module, ModuleType):
            _asked.setdefault(module.__name__, module.__name__)
    return tuple(_asked)


def modules() -> list[ModuleType]:
    """All modules from outside."""
    installed()
    return [sys.modules[name] for name in _asked]


def offered(name: str) -> Iterator[Any]:
    """The entries of the lists of this name, such as PRESETS, in all modules from outside."""
    for module in modules():
        yield from getattr(module, name, ())


def any_known() -> bool:
    """Whether anything from outside was imported."""
    return bool(_asked)


def outside(module: str) -> bool:
    """Whether a module is not one of ours."""
    return module.partition(".")[0] != "regard"


def asked(module: str) -> str:
    """What to give to `--import` to get a module."""
    return _asked.get(module, module)


def missing(needs: dict[str, str]) -> list[str]:
    """What to give to `--import` for each of the modules that is not imported yet."""
    installed()
    return [ask for module, ask in needs.items() if module not in sys.modules]
