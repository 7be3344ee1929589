"""A run is resumed by the command that began it: options that say what its recipe says already change nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.config import leaves, to_dict
from regard.errors import Error
from regard.runfolder import Run
from regard.training.recipes import change_recipe, is_there, make_recipe, read_file
from regard.training.session import LIMITS, Recipe, read_asked, read_recipe

OF_DATA = {"name": "data", "split": "data", "languages": "languages", "columns": "columns"}  # field → its option
# Fields of the model that its data decides, and the number of processes, which the machine does.
DECIDED = re.compile(
    r"model\.(.*\.)?(vocabulary|source_vocabulary|labels|ways|inputs|outputs|relation)|training\.processes"
)
LENGTH = "model.learner.layers.length"  # of a few-shot learner: decided by its ways and shots


@dataclass(frozen=True)
class Difference:
    """An option that would change a field of a run's recipe, and both values."""

    option: str
    field: str
    there: Any
    here: Any


class RunRecipe:
    """A run that is there: its recipe, and that which was asked for, before its data decided the rest."""

    def __init__(self, run: Run) -> None:
        self.recipe, self.asked = read_recipe(run), read_asked(run)
        self.base = self.asked or self.recipe
        self.fields, self.before = leaves(to_dict(self.recipe)), leaves(to_dict(self.base))

    def difference(self, option: str, field: str, here: Any) -> Difference:
        return Difference(option, field, self.fields.get(field), here)

    def differing(self, other: Recipe) -> dict[str, Any]:
        """The fields that another recipe has otherwise, and its values; those that data may decide come last."""
        if self.asked is None:
            other = replace(other, task=other.task.within(other.model))
        here = leaves(to_dict(other))
        names = [
            name
            for name in {**self.before, **here}
            if here.get(name) not in (self.before.get(name), self.fields.get(name))
            and not is_limit(name)
            and not (self.asked is None and decided(name, self.fields))
        ]
        return {name: here.get(name) for name in sorted(names, key=lambda name: decided(name, self.fields))}

    def in_data(self, data: Mapping[str, Mapping[str, Any]]) -> Difference | None:
        """The first field that names other data."""
        for part, fields in data.items():
            for name, here in fields.items():
                field = f"task.{part}.{name}"
                if self.fields.get(field) != here and is_there(type(self.base.task), part, fields):
                    option = part if name == "file" else OF_DATA.get(name, f"{part}_{name}")
                    return self.difference(option, field, here)
        return None


def first_difference(
    run: Run,
    data: Mapping[str, Mapping[str, Any]],
    preset: str | None = None,
    file: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    initial: str | None = None,
    frozen: bool = False,
) -> Difference | None:
    """The first of the options of `make_recipe` that says something else than the recipe of a run; None where all say
    the same. A preset says all fields of the model, a file those that it has."""
    there, changes = RunRecipe(run), changes or {}
    recipe, begun = there.base, there.base.initial
    if initial is not None and (begun is None or begun.run != initial):
        return Difference("from", "the run to begin from", begun and begun.run, initial)
    if frozen and (begun is None or not begun.frozen):
        return Difference("frozen", "frozen", False, True)
    if found := there.in_data(data):
        return found
    given = {} if file is None else read_file(file)
    own = {part: known for part, known in data_of(recipe).items() if part not in given.get("task", {})}
    begin = None if preset or begun is None or "initial" in given else to_dict(begun)
    others: Mapping[str, Any] = {}
    try:
        others = there.differing(make_recipe(recipe.task.kind, {**own, **data}, preset, file, changes, begin))
        if not others:  # the same command: what its options come to may depend on their order
            return None
    except Error:
        if preset or file:
            raise  # otherwise the run that it began from may be gone
    for field, here in there.differing(change_recipe(recipe, changes)).items():
        return there.difference(option_of(field, here, recipe, changes), field, here)
    said = ["model" if name == "preset" else name for name in leaves(given)] + ["model"] * bool(preset)
    for field, here in others.items():
        if any(f"{field}.".startswith(f"{name}.") for name in said):
            return there.difference("preset" if file is None else "config", field, here)
    return None


def option_of(field: str, value: Any, recipe: Recipe, changes: Mapping[str, Any]) -> str:
    """The option that gives a field its value, the last one where they do so together."""
    for name, change in changes.items():
        with suppress(Error):  # one that needs another beside it
            if leaves(to_dict(change_recipe(recipe, {name: change}))).get(field) == value:
                return name
    return list(changes)[-1]


def is_limit(field: str) -> bool:
    return field in {f"training.{limit}" for limit in LIMITS}


def decided(field: str, there: Mapping[str, Any]) -> bool:
    """Whether the data of a run may have decided a field, where earlier versions did not keep what was asked for."""
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
