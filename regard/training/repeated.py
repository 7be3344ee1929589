"""A run is resumed by the command that began it: options that say what its recipe says already change nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.config import leaves, to_dict
from regard.training.recipes import change_recipe, is_there, make_recipe, read_file
from regard.training.session import LIMITS, Recipe

OF_DATA = {"name": "data", "split": "data", "languages": "languages", "columns": "columns"}  # field → its option
# Fields of the model that its data decides, and the number of processes, which the machine does.
DECIDED = re.compile(r"model\.(.*\.)?(vocabulary|source_vocabulary|labels|ways|inputs|outputs)|training\.processes")
LENGTH = "model.learner.layers.length"  # of a few-shot learner: decided by its ways and shots


@dataclass(frozen=True)
class Difference:
    """An option that would change a field of a run's recipe, and both values."""

    option: str
    field: str
    there: Any
    here: Any


def first_difference(
    recipe: Recipe,
    data: Mapping[str, Mapping[str, Any]],
    preset: str | None = None,
    file: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    initial: str | None = None,
    frozen: bool = False,
) -> Difference | None:
    """The first of the options of `make_recipe` that says something else than the recipe of a run; None where all say
    the same. A preset says all fields of the model, a file those that it has."""
    there, begun, changes = leaves(to_dict(recipe)), recipe.initial, changes or {}
    if initial is not None and (begun is None or begun.run != initial):
        return Difference("from", "the run to begin from", begun and begun.run, initial)
    if frozen and (begun is None or not begun.frozen):
        return Difference("frozen", "frozen", False, True)
    for part, fields in data.items():
        for name, here in fields.items():
            known = there.get(f"task.{part}.{name}")
            if known != here and is_there(type(recipe.task), part, fields):
                option = part if name == "file" else OF_DATA.get(name, f"{part}_{name}")
                return Difference(option, f"task.{part}.{name}", known, here)
    for name, value in changes.items():
        for field, here in leaves(to_dict(change_recipe(recipe, {name: value}))).items():
            if here != there.get(field):
                return Difference(name, field, there.get(field), here)
    if preset is None and file is None:
        return None
    option, given = ("preset", {}) if file is None else ("config", read_file(file))
    own = {part: known for part, known in data_of(recipe).items() if part not in given.get("task", {})}
    begin = None if preset or begun is None or "initial" in given else to_dict(begun)
    wanted = make_recipe(recipe.task.kind, {**own, **data}, preset, file, changes, begin)
    asked = leaves(to_dict(replace(wanted, task=wanted.task.within(wanted.model))))
    said = ["model" if name == "preset" else name for name in leaves(given)] + ["model"] * bool(preset)
    for field in {**there, **asked}:
        if not any(f"{field}.".startswith(f"{name}.") for name in said) or decided(field, there):
            continue
        if there.get(field) != asked.get(field):
            return Difference(option, field, there.get(field), asked.get(field))
    return None


def decided(field: str, there: Mapping[str, Any]) -> bool:
    """Whether a run may have another value than was asked for: its data decided the field, or its end was moved."""
    if field in {f"training.{limit}" for limit in LIMITS}:
        return True
    if field.startswith("model.pool."):  # of the first token, until the tokenizer turned out to end texts with it
        return there.get("model.pool.kind") == "last"
    return field == LENGTH or DECIDED.fullmatch(field) is not None


def data_of(recipe: Recipe) -> dict[str, dict[str, Any]]:
    """The fields that name the data of a run, by part."""
    known = to_dict(recipe.task)
    parts = {part: known.get(part) or {} for part in recipe.task.needed}
    return {
        part: {name: value for name, value in fields.items() if value is not None} for part, fields in parts.items()
    }
