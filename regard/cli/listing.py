"""`regard list`: what there is to choose from."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from regard.cli.options import add_verb
from regard.errors import Error


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "list",
        run,
        help="the presets, parts, tasks, their options, and data sets",
        description="List the presets; every registered part by family, with its options and their defaults; the "
        "tasks; the options of one task, with their defaults and the values that are allowed; or the named data sets "
        "with their languages and splits.",
        epilog="examples:\n  regard list presets\n  regard list parts\n  regard list data\n"
        "  regard list options classify\n  regard list options classify --preset han-2016\n",
    )
    verb.add_argument("what", choices=(*TABLES, "options"), nargs="?", default="presets")
    verb.add_argument("task", nargs="?", help="with options: a task of `regard train` or `regard pretrain`")
    verb.add_argument(
        "--preset", metavar="NAME", help="with options: those of this model instead of the task's default"
    )
    verb.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise Error(f"unexpected argument {rest[0]!r}")
    if options.what == "options":
        table = list_options(options.task, options.preset)
    elif options.task is not None:
        raise Error(f"unexpected argument {options.task!r}: only `regard list options` takes a task")
    else:
        table = TABLES[options.what]()
    if options.what in NOTES:
        print(NOTES[options.what], file=sys.stderr)
    if options.json:
        print(json.dumps(table, indent=2))
        return
    width = max(28, *(len(name) + 2 for name in table))
    for name, text in table.items():
        print(f"{name:<{width}}{text}")


def list_presets() -> dict[str, str]:
    """Name → what it is and where it comes from."""
    from regard.zoo import presets

    return {name: f"{preset.config.kind:<19}{preset.paper}" for name, preset in presets().items()}


def list_parts() -> dict[str, str]:
    """ "family kind" → its options with their defaults."""
    import regard.zoo  # noqa: F401  (registers every part)
    from regard import extensions
    from regard.config import FAMILIES, fields_of, kinds

    extensions.installed()
    table: dict[str, str] = {}
    for family, base in FAMILIES.items():
        for kind, config in kinds(base).items():
            fields = [f"{name}={default}" for name, default in defaults(config, fields_of(config)).items()]
            table[f"{family} {kind}"] = ", ".join(fields)
    return table


def defaults(config: type, names: Any) -> dict[str, str]:
    """Field names and their defaults as text; a nested part by its kind."""

    def say(value: Any) -> str:
        return str(getattr(value, "kind", "") or (value if not hasattr(value, "__dataclass_fields__") else "…"))

    return {name: say(getattr(config, name)) if hasattr(config, name) else "required" for name in names}


def list_tasks() -> dict[str, str]:
    """Task → what it is."""
    from regard.config import kinds
    from regard.tasks import register
    from regard.tasks.base import TaskConfig

    register()
    return {kind: (task.__doc__ or "").partition("\n")[0] for kind, task in kinds(TaskConfig).items()}


def list_options(task: str | None, preset: str | None) -> dict[str, str]:
    """Option of `regard train TASK` → its default, and the values that are allowed."""
    from collections import Counter

    from regard.config import ConfigError, every_field
    from regard.tasks import register
    from regard.training.recipes import make_recipe, task_of

    register()
    if task is None:
        raise ConfigError(f"name the task whose options to list: {', '.join(sorted(list_tasks()))}")
    needed = task_of(task).needed
    recipe = make_recipe(task, {part: {"file": "FILE"} for part in needed}, preset)
    sections = {"task": recipe.task, "training": recipe.training, "model": recipe.model}
    found = [one for name, part in sections.items() for one in every_field(part, name)]
    data = tuple(f"task.{part}" for part in (*needed, "train", "valid"))  # they have options of their own
    bare = Counter(one.name.rpartition(".")[2] for one in found)
    return {
        option(one.name, bare[one.name.rpartition(".")[2]] == 1): f"{plain(one.value):<18}{one.takes}"
        for one in found
        if not any(one.name == part or one.name.startswith(f"{part}.") for part in data)
    }


def option(name: str, unique: bool) -> str:
    """A field as it is written on the command line: by its last name where no other field has it."""
    return "--" + (name.rpartition(".")[2] if unique else name).replace("_", "-")


def plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)


def list_data() -> dict[str, str]:
    """Data set → what it is, the forms of its examples, its languages or other variants, and its splits."""
    from regard.data.catalogue import data_sets

    def say(name: str, values: Iterable[str]) -> str:
        return f"; {name} {', '.join(values)}" if values else ""

    return {
        name: data.about + say("forms", data.forms) + say("languages", data.languages) + say("splits", data.splits)
        for name, data in data_sets().items()
    }


TABLES = {"presets": list_presets, "parts": list_parts, "tasks": list_tasks, "data": list_data}
NOTES = {"data": "what is not built in is read below the folder that the environment variable REGARD_DATA names"}
