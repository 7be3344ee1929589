"""Rooms import only from rooms on a lower level, or from themselves, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent
LEVELS = {
    "errors": -2,
    "extensions": -1,
    "config": 0,
    "description": 0,
    "data": 1,
    "results": 2,
    "metrics": 3,
    "nn": 1,
    "page": 1,
    "models": 2,
    "fast": 2,
    "zoo": 3,
    "runfolder": 2,
    "checkpoint": 3,
    "decoding": 3,
    "anatomy": 4,
    "look": 4,
    "interop": 4,
    "sides": 5,
    "tasks": 6,
    "training": 7,
    "lab": 8,
    "studio": 8,
    "cli": 9,
    "__main__": 10,
}
DRAWN = "_repr_html_"  # a record imports what draws it in a notebook when it is drawn, and only then

Graph = Mapping[str, set[str]]


def modules(root: Path = ROOT) -> dict[str, str]:
    """The source of every module below a package by its dotted name, without the package itself, which only passes on
    what others hold."""
    paths = {path: path.relative_to(root.parent).with_suffix("").parts for path in root.rglob("*.py")}
    named = {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}
    return {name: path.read_text(encoding="utf-8") for name, path in named.items() if name != root.name}


def room(module: str) -> str:
    return module.split(".")[1]


def imports(source: str, known: Mapping[str, str], homes: Mapping[str, str], drawing: bool = True) -> set[str]:
    """The modules of ours that a module imports: at its top, inside functions, for annotations alone or by
    `import_module`; as `import regard.a`, `from regard.a import name` or `from regard import a`. `homes` says where the
    names of the package come from. Without `drawing`, what is imported to be drawn in a notebook is left out."""
    found = set()
    for node in walk(ast.parse(source), drawing):
        for name in imported(node):
            package, _, last = name.rpartition(".")
            home = homes.get(last, "") if package == "regard" else package
            found.add(name if name in known else home)
    return found & known.keys()


def walk(tree: ast.AST, drawing: bool) -> Iterator[ast.AST]:
    if isinstance(tree, ast.FunctionDef) and tree.name == DRAWN and not drawing:
        return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from walk(child, drawing)


def imported(node: ast.AST) -> list[str]:
    """The dotted names that an import names: modules, or something in a module."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [word.value for word in node.args[:1] if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    return []


def circles(graph: Graph) -> list[list[str]]:
    """The modules that reach each other, by Tarjan's strongly connected components."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph.get(module, ())):
            if other not in order:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], order[other])
        if low[module] == order[module]:
            place = stack.index(module)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


KNOWN = modules()
HOMES = regard._HOMES


def test_every_room_has_a_level() -> None:
    assert {room(module) for module in KNOWN} == set(LEVELS)


def test_rooms_import_only_from_lower_levels() -> None:
    wrong = [
        f"{module} (level {LEVELS[room(module)]}) imports {other} (level {LEVELS[room(other)]})"
        for module, source in KNOWN.items()
        for other in imports(source, KNOWN, HOMES)
        if room(other) != room(module) and LEVELS[room(other)] >= LEVELS[room(module)]
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: imports(source, KNOWN, HOMES, drawing=False) - {module} for module, source in KNOWN.items()}
    assert circles(graph) == []


@pytest.mark.parametrize(
    "source",
    [
        "import regard.tasks.base",
        "import regard.tasks.base as base",
        "from regard.tasks import base",
        "from regard.tasks.base import Task",
        "def late():\n    from regard.tasks import base",
        "if TYPE_CHECKING:\n    from regard.tasks.base import Task",
        "importlib.import_module('regard.tasks.base')",
    ],
)
def test_every_form_of_import_is_seen(source: str) -> None:
    assert imports(source, KNOWN, HOMES) == {"regard.tasks.base"}


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from regard import tasks", "regard.tasks"),
        ("from regard import load", "regard.tasks"),
        ("from regard import describe as told", "regard.anatomy"),
        ("def _repr_html_(self):\n    from regard.look.page import page", "regard.look.page"),
    ],
)
def test_what_comes_through_the_package_is_seen(source: str, module: str) -> None:
    assert imports(source, KNOWN, HOMES) == {module}


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"f"}, "f": {"e"}}
    assert circles(graph) == [["a", "b", "c"], ["e", "f"]]


def private_of_torch(source: str) -> set[str]:
    """What a module takes of PyTorch that PyTorch does not document: `torch._name`, `torch.part._name`, `torch.ops`."""
    names = {ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    parts = {name: name.split(".") for name in names if name.startswith("torch.")}
    return {name for name, steps in parts.items() if steps[1] == "ops" or any(step.startswith("_") for step in steps)}


def test_undocumented_operators_stand_in_one_file() -> None:
    found = {module for module, source in KNOWN.items() if private_of_torch(source)}
    assert found == {"regard.fast.operators"}
    assert private_of_torch("torch._foreach_div_(x, 2)") == {"torch._foreach_div_"}
    assert private_of_torch("a = torch.ops.mkldnn._linear_pointwise") >= {"torch.ops.mkldnn._linear_pointwise"}
    assert private_of_torch("torch.nn.functional.linear(x, self._weight)") == set()
