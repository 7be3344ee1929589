"""From a recipe to a trained run folder: prepare, train or resume, and leave everything in order."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import yaml

from regard import __version__, tasks
from regard.checkpoint import put_weights, read_tensors
from regard.config import Config, ConfigError, change, fields_of, from_dict, nearest, needs, to_dict
from regard.data.batches import Batches
from regard.data.growing import begun
from regard.errors import Error
from regard.fast import choose_device, plain, quicken
from regard.models import Model, ModelConfig
from regard.nn.lowrank import merge
from regard.nn.stacks import StackLayers
from regard.runfolder import ASKED, FILES, NEEDS, PICTURES, TOKENS, Run, RunError, load_tokenizer, read_json, write_text
from regard.tasks.base import Say, Task, TaskConfig
from regard.training.forked import Forked, shares_of
from regard.training.heads import solve_head
from regard.training.initial import Initial, freeze, slow_down, take_tokenizer, take_weights
from regard.training.place import Place
from regard.training.progress import Progress
from regard.training.records import JsonLines, Listen, Output, Record, TensorBoard, ignore, progress
from regard.training.report import write_report
from regard.training.settings import Training
from regard.training.signals import interruptible
from regard.training.state import newest_whole
from regard.training.strategy import Alone, Strategy
from regard.training.trainer import Trainer

LIMITS = ("max_steps", "max_minutes", "patience")  # what ends a run

tasks.register()


@dataclass(frozen=True)
class Recipe(Config):
    """All that decides a result: what is learnt, by which model, how, and from which trained run it begins, if any."""

    task: TaskConfig
    model: ModelConfig
    training: Training = Training()
    initial: Initial | None = None

    def check(self) -> None:
        self.task.check_model(self.model)
        metric, known = self.training.metric, self.task.metrics
        if metric is not None and metric not in known:
            raise ConfigError(f"training.metric: the task has no {metric!r}: {nearest(metric, known)}")


def start(run: Run, recipe: Recipe, overwrite: bool = False) -> Progress:
    """Train a new run. A folder that exists is left alone, unless `overwrite` says that a run on the same examples may
    be replaced."""
    if run.exists():
        if not overwrite:
            raise RunError(f"{run.path} exists; go on with --resume, or choose another folder")
        check_replaceable(run, recipe)
        shutil.rmtree(run.path)
    write_text(run.path / ASKED, json.dumps(to_dict(recipe), indent=2) + "\n")
    write_recipe(run, recipe)  # at once, so that a run can be resumed that was stopped while preparing
    place = Place(run.path)
    try:
        return _train(run, recipe, resume=None)
    except Error as error:
        place.check()  # nothing is done to another folder that has its name now
        if any(
            begun(run.path / name) for name in (TOKENS, PICTURES)
        ):  # a part of the corpus is done: it may have taken its time
            raise RunError(f"{error}; then go on with --resume") from error
        if not run.metrics_path.exists():  # it never came to training, so there is nothing to keep or to resume
            shutil.rmtree(run.path)
        raise


def check_replaceable(run: Run, recipe: Recipe) -> None:
    """Nothing is deleted that is not a run of this kind, or that somebody put beside one."""
    known = run.config_path.exists() and run.read_config().get("task", {}).get("train")
    if known != to_dict(recipe.task).get("train"):
        raise RunError(f"{run.path} exists and holds something else: choose another folder")
    if others := sorted(path.name for path in run.path.iterdir() if path.name not in FILES):
        raise RunError(f"{run.path} would be replaced, but holds {others[0]} beside a run: choose another folder")


def resume(run: Run, limits: Mapping[str, Any] | None = None) -> Progress:
    """Go on from the newest whole checkpoint; from the start, where none was written. `limits` are those of `LIMITS`
    that are to hold from now on: what the run has learnt from stays what it was, only its end may move."""
    step, recipe = newest_whole(run, _say), read_recipe(run)
    if limits:
        recipe = change(recipe, {f"training.{name}": limit for name, limit in limits.items()})
    if step is not None and recipe.training.processes is None:  # of a version that knew no others
        recipe = change(recipe, {"training.processes": 1})
    return _train(run, recipe, resume=step)


def write_recipe(run: Run, recipe: Recipe, findings: Mapping[str, Any] | None = None) -> None:
    """Into the run folder: all that decides its result, and what was found about it."""
    made = {"tokenizer": load_tokenizer(run).fingerprint} if run.tokenizer_path.exists() else {}
    outside = {NEEDS: found} if (found := needs(recipe)) else {}
    run.write_config({"regard": __version__, **to_dict(recipe), **outside, **made, **(findings or {})})
    write_text(run.path / "recipe.yaml", yaml.safe_dump(to_dict(recipe), sort_keys=False, allow_unicode=True))


def read_recipe(run: Run) -> Recipe:
    sections = run.read_config()
    run.check_needs(sections)
    return from_dict(Recipe, {name: sections[name] for name in fields_of(Recipe) if name in sections})


def read_asked(run: Run) -> Recipe | None:
    """What a run was asked for, before its data decided the rest; None of a run that earlier versions began."""
    path = run.path / ASKED
    return from_dict(Recipe, read_json(path)) if path.exists() else None


def make_trainer(run: Run, task: Task[Any], model: Model, training: Training, listen: Listen = ignore) -> Trainer:
    """The trainer of a recipe."""
    quicken(model)
    if training.compile:
        compile_stacks(model)
    task.ready(model)
    batches = task.batches(training.batch_tokens, training.seed)
    return Trainer(run, task, model, training, batches, strategy_for(training, batches, model), listen)


def strategy_for(training: Training, batches: Batches, model: Model) -> Strategy:
    """How batches are shared out: as the recipe asks, or as suits machine and batches."""
    alone = 1 if training.compile else None  # each process would compile for itself
    ranks = shares_of(batches, model, training.processes or alone)
    return Forked(ranks) if ranks > 1 else Alone()


def compile_stacks(model: Model) -> None:
    """Compile the plain layers in place: names, weights and checkpoints stay what they are."""
    for module in model.modules():
        if isinstance(module, StackLayers):
            plain(module).compile(dynamic=True)


def _train(run: Run, recipe: Recipe, resume: int | None) -> Progress:
    with Place(run.path) as place:
        return _train_in(place, run, recipe, resume)


def _train_in(place: Place, run: Run, recipe: Recipe, resume: int | None) -> Progress:
    torch.manual_seed(recipe.training.seed)
    device = choose_device(recipe.training.device)  # before the data, which may take its time
    task, recipe, model = begin(run, recipe, _say, resume)
    model = model.to(device)
    outputs: list[Output] = []

    def listen(record: Record) -> None:
        place.check()
        for output in outputs:
            output(record)

    trainer = make_trainer(run, task, model, recipe.training, listen)
    strategy = trainer.strategy
    recipe = replace(recipe, training=replace(recipe.training, processes=strategy.ranks))
    write_recipe(run, recipe)  # how a batch was shared out decides the last digits of its gradient
    if recipe.initial is not None:
        slow_down(trainer.optimisers, model, recipe.initial)
    if resume is not None:
        trainer.resume(resume)  # before anything of the run is touched: it may be refused
    batches = trainer.batches
    padding = f"; {share:.1%} of the tokens in their batches are padding" if (share := batches.padding()) else ""
    _say(f"{len(batches):,} training examples{padding}")
    if isinstance(trainer.autocast, torch.autocast):
        _say("matrix products are in bf16 (otherwise: --precision fp32)")
    if strategy.about:
        _say(strategy.about)
    try:
        if recipe.training.tensorboard:  # first, because it may not be installed
            outputs.append(TensorBoard(run.path / "tensorboard", after=resume))
        outputs += [JsonLines(run.metrics_path, after=resume), progress(recipe.training.max_steps)]
        if resume is not None:
            listen({"event": "note", "step": resume, "text": f"resumed at step {resume:,}"})
        if over := trainer.ending():
            options = ", ".join(f"--{name.replace('_', '-')}" for name in LIMITS)
            listen({"event": "note", "step": resume, "text": f"it is over: {over}; move its end with one of {options}"})
        with interruptible(trainer):
            done = trainer.train()
    finally:
        for output in outputs:
            output.close()
    if done.best is not None:
        _say("looking at the weights that are kept, for the report")
        merge(model)
        quicken(model)
        put_weights(model, read_tensors(run.weights_path), str(run.weights_path))
        findings = task.findings(model.eval())
        write_recipe(run, recipe, findings)
        sections = task.sections(model, findings)
        place.check()
        write_report(run, sections)
    return done


def begin(run: Run, recipe: Recipe, say: Say, resume: int | None = None) -> tuple[Task[Any], Recipe, Model]:
    """The task with its data, the recipe with what the data decides, and the model as its training begins."""
    if recipe.initial is not None:
        take_tokenizer(recipe.initial, run)
    recipe = replace(recipe, task=recipe.task.within(recipe.model))
    task = recipe.task.open(run.path, say)
    recipe = replace(recipe, model=task.fit(recipe.model))
    write_recipe(run, recipe)
    model: Model = recipe.model.build()
    if recipe.initial is not None and resume is None:
        take_weights(recipe.initial, model, run)
        if recipe.initial.head_first:
            say("solving for the output layer")
            solve_head(task, model)
    elif recipe.initial is not None:
        freeze(recipe.initial, model, run)  # the weights are in the checkpoint
    return task, recipe, model


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
