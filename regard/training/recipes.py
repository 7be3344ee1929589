"""From what a person names to a whole recipe: a file of one, a preset, data, and changes to any field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from regard.config import ConfigError, change, from_dict, to_dict
from regard.data.catalogue import DATA_SETS
from regard.models import ModelConfig
from regard.training.loop import Training
from regard.training.optimisers import MuonAndAdamW
from regard.training.schedules import StableDecay
from regard.training.session import Recipe
from regard.zoo import get

DEFAULT = "translator"
MEASURED = 128  # the width of the models that the usual rates were found with
SIDES = 2  # of parallel files


def make_recipe(
    task: str,
    data: Mapping[str, Mapping[str, Any]],
    preset: str | None = None,
    file: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe of a file, or the defaults; then the data that was named; then every other change.

    `data` are fields of the task by name: {"train": {"file": "a.tsv"}}. In a file, `preset` names a model and `model`
    then holds changes to it.
    """
    given = read_file(file) if file is not None else {}
    model = given.pop("model", {})
    name = preset or given.pop("preset", None)
    given.pop("preset", None)
    config = (
        change(get(name or DEFAULT), model) if name or "kind" not in model else from_dict(ModelConfig, model, "model")
    )
    fields = {"kind": task, **given.pop("task", {}), **data}
    for part in ("train", "valid"):
        if not fields.get(part):
            raise ConfigError("training needs sentence pairs: give --train and --valid files, or --data NAME")
    training = {**to_dict(usual_training(config)), **given.pop("training", {})}
    whole = {**given, "task": fields, "model": to_dict(config), "training": training}
    return change(from_dict(Recipe, whole), dict(changes or {}))


def usual_training(model: ModelConfig) -> Training:
    """What learnt most in a given time on a few cores (docs/experiments.md); a recipe or an option may say otherwise.

    Wider models take lower rates: a step of one size changes more of what a wide matrix computes.
    """
    scale = min(1.0, MEASURED / model.width)
    return Training(
        batch_tokens=2560,
        optimiser=MuonAndAdamW(rate=2.4e-3 * scale, matrix_rate=8e-3 * scale),
        schedule=StableDecay(warmup=100, decay=0.9),
    )


def read_file(path: str | Path) -> dict[str, Any]:
    try:
        given = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no recipe: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise ConfigError(f"{path} is no recipe: it holds {type(given).__name__} instead of fields")
    for name in ("task", "model", "training"):
        if not isinstance(given.get(name, {}), dict):
            raise ConfigError(f"{path}: {name} is {given[name]!r} instead of fields")
    return given


def where(data: str | Path | tuple[str, str] | Mapping[str, Any], split: str) -> dict[str, Any]:
    """The fields that name data: of a set by its name, of one file, or of two parallel files."""
    if isinstance(data, Mapping):
        return dict(data)
    if isinstance(data, tuple):
        if len(data) != SIDES:
            raise ConfigError(f"{split}: {len(data)} files; parallel files come in two")
        return {"source": str(data[0]), "target": str(data[1])}
    return {"name": data, "split": split} if data in DATA_SETS else {"file": str(data)}


def train(
    task: str,
    run: str | Path,
    *,
    train: str | Path | tuple[str, str] | Mapping[str, Any],
    valid: str | Path | tuple[str, str] | Mapping[str, Any],
    preset: str | None = None,
    recipe: str | Path | None = None,
    **changes: Any,
) -> dict[str, float]:
    """Train a model into a new run folder, as `regard train` does; returns the metrics of the last validation.

    `train` and `valid` are a file, two parallel files, the name of a data set, or the fields of `PairData`; `changes`
    are fields of the recipe, named as on the command line: `max_steps=500, dropout=0.2`.
    """
    from regard.checkpoint import Run
    from regard.training.session import start

    data = {"train": where(train, "train"), "valid": where(valid, "valid")}
    return start(Run(run), make_recipe(task, data, preset, recipe, changes)).metrics
