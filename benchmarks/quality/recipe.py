"""Our recipe, on Multi30k whatever data it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.corpus import LANGUAGES
from regard.tasks.writing.translation import Translation
from regard.training.recipes import make_recipe
from regard.training.session import Recipe


def named(split: str) -> dict[str, str]:
    return {"name": "multi30k", "languages": LANGUAGES, "split": split}


def read_recipe(path: Path, train: Mapping[str, str], valid: Mapping[str, str]) -> tuple[Recipe, Translation]:
    """The recipe, and its task."""
    recipe = make_recipe("translate", {"train": train, "valid": valid}, file=path)
    assert isinstance(recipe.task, Translation)
    return recipe, recipe.task
