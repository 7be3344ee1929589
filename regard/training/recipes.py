"""From what a person names to a whole recipe: a file of one, a preset, data, and changes to any field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from regard import extensions
from regard.config import (
    ConfigError,
    UnknownOptionError,
    change,
    fields_of,
    from_dict,
    kinds,
    leaves,
    nearest,
    to_dict,
)
from regard.data.catalogue import data_set, data_sets
from regard.errors import reading
from regard.models import (
    InputReaderConfig,
    ModelConfig,
    PictureReaderConfig,
    PictureWriterConfig,
    TextModelConfig,
    WriterConfig,
)
from regard.runfolder import Run
from regard.tasks import OBJECTIVES
from regard.tasks.base import TaskConfig
from regard.tasks.tuning import tuning
from regard.training.initial import Initial, beginning_of, reader_of
from regard.training.optimisers import MuonAndAdamW
from regard.training.records import validated
from regard.training.schedules import StableDecay
from regard.training.session import Recipe, start
from regard.training.settings import Training
from regard.zoo import get

Where = str | Path | tuple[str, str] | Mapping[str, Any]
MEASURED = 128  # the width of the models that the usual rates were found with
SIDES = 2  # of parallel files
TOKENIZING = ("task.tokenizer", "task.pieces", "task.lower")  # what a trained model's own tokenizer decides


def make_recipe(
    task: str,
    data: Mapping[str, Mapping[str, Any]],
    preset: str | None = None,
    file: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe of a file, or the defaults; then the data that was named; then every other change.

    `data` are fields of the task by name: {"train": {"file": "a.tsv"}}. In a file, `preset` names a model and `model`
    then holds changes to it. `initial` are the fields of `Initial`: a run whose trained model this one is built around.
    """
    given = read_file(file) if file is not None else {}
    fields = {"kind": task, **given.pop("task", {})}
    kind = task_of(fields["kind"]).taking({**fields, **data})
    fields["kind"] = kind.kind
    if data and not kind.needed:
        raise ConfigError(f"the task {kind.kind!r} makes its own examples: leave {' and '.join(data)} out")
    fields |= {part: where for part, where in data.items() if part in kind.needed or is_there(kind, part, where)}
    missing = [part for part in kind.needed if not fields.get(part)]
    if missing:
        raise ConfigError(
            f"no examples were given for {' and '.join(missing)}: name --train and --valid files, or --data NAME"
        )
    begin = initial or given.pop("initial", None)
    given.pop("initial", None)
    named, model = given.pop("preset", None), given.pop("model", {})
    suited: Mapping[str, Any] = {}
    around = around_pictures(Run(begin["run"]), preset or named or kind.preset) if begin else None
    if begin and around is not None:
        begin = {**begin, "part": "encoder"}
        config = change(around, model)
    elif begin and preset:
        raise ConfigError(
            f"preset {preset}: the model is built around that of {begin['run']}; leave the preset out, or the run"
        )
    elif begin:
        config, fields, suited = begun_from(Run(begin["run"]), fields)
        config = change(config, model)
    elif preset or named or "kind" not in model:
        config, fields = for_task(get(preset or named or kind.preset), fields)
        config = change(config, model)
    else:
        config = from_dict(ModelConfig, model, "model")
    training = {**to_dict(usual_training(config)), **kind.usual, **suited, **given.pop("training", {})}
    whole = {**given, "task": fields, "model": to_dict(config), "training": training, "initial": begin}
    recipe = from_dict(Recipe, whole)
    changed = change_recipe(recipe, changes or {})
    if changed.initial is not None:
        check_kept(recipe, changed, changed.initial.run)
    return changed


def change_recipe(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """The recipe with changes; an option that it has no place for is told where to find one."""
    task, begun = recipe.task.kind, fields_of(Initial)
    try:
        return change(recipe, changes)
    except UnknownOptionError as error:
        if recipe.initial is None and error.name in begun and task not in OBJECTIVES:
            raise ConfigError(
                f"option {error.name!r} is for weights that come from a trained run: it needs --from RUN"
            ) from None
        raise ConfigError(f"{error}; `regard list options {task}` lists them all") from None


def check_kept(before: Recipe, after: Recipe, run: str) -> None:
    """What trained weights know is bound to their tokenizer and to the shape of their model: neither can be changed;
    only what disturbs them in training can."""
    there, here = leaves(to_dict(before)), leaves(to_dict(after))
    reader = "model." if isinstance(before.model, TextModelConfig) else "model.reader."
    part = None if after.initial is None else after.initial.part
    reader = reader if part is None else f"model.{part}."
    for name in {**there, **here}:
        free = "dropout" in name or name.startswith(f"{reader}init.") or name == f"{reader}side"
        shape = name.startswith(reader) and not free
        if (shape or (name in TOKENIZING and part is None)) and there.get(name) != here.get(name):
            raise ConfigError(f"{name} {here.get(name)}: {run} decides it, whose weights know no other; leave it out")


def around_pictures(run: Run, preset: str) -> ModelConfig | None:
    """A captioner like a preset around what reads pictures in a run; None where one of the two is something else."""
    pictures = beginning_of(run)
    if not isinstance(pictures, PictureReaderConfig):
        return None
    writer = get(preset)
    return replace(writer, encoder=pictures) if isinstance(writer, PictureWriterConfig) else None


def begun_from(run: Run, fields: dict[str, Any]) -> tuple[ModelConfig, dict[str, Any], Mapping[str, Any]]:
    """The model that learns a task from what a run knows, and the fields of the task and of the training that suit it:
    one that writes goes on as it is, another is what the task's own model is built around."""
    task, source = from_dict(TaskConfig, fields, "task"), beginning_of(run)
    if isinstance(source, WriterConfig) and learns(task, source):
        return source, {**task.following(run), **fields}, tuning(source)
    reader = reader_of(run)
    of_task, suited = task.beginning(reader)
    fields = {**of_task, **task.following(run), **fields}
    return from_dict(TaskConfig, fields, "task").around(reader), fields, suited


def for_task(model: ModelConfig, fields: dict[str, Any]) -> tuple[ModelConfig, dict[str, Any]]:
    """A preset as a task learns with it, and the fields of the task that suit it: one that only reads, such as BERT, is
    what the task's own model is built around, and learns from nothing."""
    task = from_dict(TaskConfig, fields, "task")
    if not isinstance(model, InputReaderConfig) or learns(task, model):
        return model, fields
    if type(task).around is TaskConfig.around:
        task.check_model(model)  # which says why it cannot learn this
    reader = model.inside()
    fields = {**task.beginning(reader)[0], **fields}
    return from_dict(TaskConfig, fields, "task").around(reader), fields


def learns(task: TaskConfig, model: ModelConfig) -> bool:
    """Whether a task is content with a model."""
    try:
        task.check_model(model)
    except ConfigError:
        return False
    return True


def task_of(kind: str) -> type[TaskConfig]:
    """The class of a task's config by its kind."""
    if kind not in kinds(TaskConfig):
        extensions.installed()
    known = kinds(TaskConfig)
    if kind not in known:
        raise ConfigError(f"unknown task {kind!r}: {nearest(str(kind), known)}")
    found = known[kind]
    assert issubclass(found, TaskConfig)
    return found


def usual_training(model: ModelConfig) -> Training:
    """What learnt most in a given time on a few cores (docs/experiments.md); a task, a recipe or an option may say
    otherwise.

    Wider models take lower rates: a step of one size changes more of what a wide matrix computes.
    """
    text = model.text()
    scale = 1.0 if text is None else min(1.0, MEASURED / text.width)
    return Training(
        batch_tokens=2560,
        optimiser=MuonAndAdamW(rate=2.4e-3 * scale, matrix_rate=8e-3 * scale),
        schedule=StableDecay(warmup=100, decay=0.9),
    )


def is_there(kind: type[TaskConfig], part: str, where: Mapping[str, Any]) -> bool:
    """Whether data that a task can do without is to be used: of a named set, if the task takes it and it is there."""
    if "name" not in where:
        return True
    return part in fields_of(kind) and where.get("split") in data_set(where["name"]).splits


class RecipeLoader(yaml.SafeLoader):
    """YAML 1.1 reads 2e-3 as text, because it has no full stop; here it is the number that people mean."""


RecipeLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?e[-+]?\d+$", re.I), list("-+0123456789")
)


def read_file(path: str | Path) -> dict[str, Any]:
    try:
        with reading(path):
            given = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=RecipeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no recipe: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise ConfigError(f"{path} is no recipe: it holds {type(given).__name__} instead of fields")
    for name in ("task", "model", "training"):
        if not isinstance(given.get(name, {}), dict):
            raise ConfigError(f"{path}: {name} is {given[name]!r} instead of fields")
    return given


def where(data: Where, split: str) -> dict[str, Any]:
    """The fields that name data: of a set by its name, of one file, or of two parallel files."""
    if isinstance(data, Mapping):
        return dict(data)
    if isinstance(data, tuple):
        if len(data) != SIDES:
            raise ConfigError(f"{split}: {len(data)} files; parallel files come in two")
        return {"source": str(data[0]), "target": str(data[1])}
    return {"name": data, "split": split} if data in data_sets() else {"file": str(data)}


def train(
    task: str,
    run: str | Path,
    *,
    train: Where | None = None,
    valid: Where | None = None,
    preset: str | None = None,
    recipe: str | Path | None = None,
    initial: str | Path | None = None,
    frozen: bool = False,
    **changes: Any,
) -> dict[str, float]:
    """Train a model into a new run folder, as `regard train` does; returns the metrics of the weights that it
    keeps, those of the best validation.

    `train` and `valid` are a file, two parallel files, the name of a data set, or the fields of the task's data, such
    as `PairData`. `initial` is a run whose trained model this one is built around, `frozen` as it is. `changes` are
    fields of the recipe, named as on the command line: `max_steps=500, dropout=0.2`.
    """
    given = {"train": train, "valid": valid}
    data = {name: where(one, name) for name, one in given.items() if one is not None}
    begin = None if initial is None else {"run": str(initial)}
    changes |= {"frozen": True} if frozen else {}
    progress = start(Run(run), make_recipe(task, data, preset, recipe, changes, begin))
    return validated(Run(run).metrics_path, progress.best_step)
