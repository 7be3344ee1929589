"""`regard list`: what there is to choose from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "list",
        help="the presets, parts, tasks and data sets",
        description="List presets; every registered part by family, with its options and their defaults; tasks; or the "
        "named data sets with their languages and splits.",
        epilog="examples:\n  regard list presets\n  regard list parts\n  regard list data\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("what", choices=tuple(TABLES), nargs="?", default="presets")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise ValueError(f"unexpected argument {rest[0]!r}")
    table = TABLES[options.what]()
    if options.json:
        print(json.dumps(table, indent=2))
        return
    for name, text in table.items():
        print(f"{name:<28}{text}")


def list_presets() -> dict[str, str]:
    """Name → what it is and where it comes from."""
    from regard.zoo import presets

    return {name: f"{preset.config.kind:<17}{preset.paper}" for name, preset in presets().items()}


def list_parts() -> dict[str, str]:
    """ "family kind" → its options with their defaults."""
    import regard.zoo  # noqa: F401  (registers every part)
    from regard.config import FAMILIES, fields_of, kinds

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


def list_data() -> dict[str, str]:
    """Data set → what it is, the forms of its examples, its languages or other variants, and its splits."""
    from regard.data.catalogue import DATA_SETS

    def say(name: str, values: Iterable[str]) -> str:
        return f"; {name} {', '.join(values)}" if values else ""

    return {
        name: data.about + say("forms", data.forms) + say("languages", data.languages) + say("splits", data.splits)
        for name, data in DATA_SETS.items()
    }


TABLES = {"presets": list_presets, "parts": list_parts, "tasks": list_tasks, "data": list_data}
