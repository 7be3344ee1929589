"""What a layer adds to the loss keeps its size for every task, however many words a batch has and however it is
computed; a validation judges without it."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.config import ConfigError, change, kinds
from regard.decoding import parallel
from regard.lab.recall import Learning, Recall, RecallLearner
from regard.models import Model
from regard.nn.call.context import Context
from regard.runfolder import Run
from regard.tasks.base import Task, TaskConfig
from regard.training.records import read_records
from regard.training.session import Recipe, begin, make_trainer, read_recipe, start
from regard.training.trainer import Trainer
from tests.helpers import decoder
from tests.old_runs.make import RUNS
from tests.old_runs.test_old_runs import ARCHIVE
from tests.toy import perform

EXTRA = 2.01
NAME = "encoder.0.balance"
SUMMARISE = "summarise"
SMALL = ("--layers", 1, "--width", 16, "--heads", 2, "--hidden", 16)
PICTURED = {  # task → the kind of it that reads pictures, and options of a small run
    "classify": ("classify-pictures", SMALL),
    "caption": ("caption", SMALL),
    "ask": ("ask", ("--glance", "stacked", "--task.side", 32)),
    "detect": ("detect", (*SMALL, "--count", 8)),
    "fewshot": ("fewshot-pictures", ("--ways", 2, "--tested", 2, "--validated", 2, "--inner", 8, "--judged", 4)),
}
TRIED = [*RUNS, SUMMARISE, *(kind for kind, _ in PICTURED.values())]
ROWS = np.arange(6)
ALONE = {  # tasks that one process learns, and why
    "similar": "it is judged as a whole",
    "detect": "the model keeps something of it in",
    "fewshot-pictures": "the model keeps something of it in",
}


class Leaving:
    """A part of every model that leaves an extra loss in each of its passes: a "number", or as much of it as a "weight"
    is large."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.kind, plain = "number", Model.called
        self.weight = torch.zeros(())

        def called(model: Model, *given: Any, **named: Any) -> Context:
            context = plain(model, *given, **named)
            if self.kind != "nothing":
                context.losses.leave(NAME, self.loss())
            return context

        patch.setattr(Model, "called", called)

    def loss(self) -> Tensor:
        return torch.tensor(EXTRA) if self.kind == "number" else EXTRA * self.weight.square().sum()


@pytest.fixture(scope="session")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of each task that reads pictures, on drawn scenes."""
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("pictured")
    scenes = ["--data", "scenes", "--languages", "32", "--max-steps", 1, "--validate-every", 1, "--processes", 1]
    for task, more in PICTURED.items():
        held = [] if task == "fewshot" else ["--task.valid.count", 6]
        perform("train", task, "--run", folder / more[0], *scenes, "--task.train.count", 150, *held, *more[1])
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictured: Path) -> Path:
    """A folder with a small run of each task and its data, as the present one: recipes name files from there."""
    monkeypatch.setattr(parallel, "active_count", lambda: 1)  # who runs tests side by side has threads of its own
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path, [one for one in archive.namelist() if one.startswith(("data/", "runs/"))])
    shutil.copytree(tmp_path / "runs" / "transformer", tmp_path / "runs" / SUMMARISE)  # younger than the archive
    shutil.copytree(pictured, tmp_path / "runs", dirs_exist_ok=True)
    config = tmp_path / "runs" / SUMMARISE / "config.json"
    sections = json.loads(config.read_text())
    sections["task"]["kind"] = SUMMARISE
    config.write_text(json.dumps(sections))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def opened(name: str) -> tuple[Task, Recipe, Model]:
    """A run as its training begins."""
    run = Run(f"runs/{name}")
    recipe = read_recipe(run)
    torch.manual_seed(0)
    return begin(run, recipe, lambda text: None)


def trainer_of(name: str, processes: int, left: Leaving) -> Trainer:
    task, recipe, model = opened(name)
    left.weight = next(one for one in model.parameters() if one.requires_grad and one.any())
    training = change(recipe.training, {"processes": processes})
    return make_trainer(Run(f"runs/{name}"), task, model.train(), training)


ONE, SEVERAL = [ROWS], [ROWS[:3], ROWS[3:4], ROWS[4:]]
WAYS = {"one batch": (ONE, 1), "one example": ([ROWS[:1]], 1), "several batches": (SEVERAL, 1)}
if sys.platform == "linux":  # where processes are copied
    WAYS |= {"two processes": (ONE, 2), "several batches of two processes": (SEVERAL, 2)}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", TRIED)
def test_it_adds_its_size_to_the_mean_loss_of_every_task(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    left = Leaving(monkeypatch)
    for way, (groups, processes) in WAYS.items():
        if name in ALONE and processes > 1:
            with pytest.raises(ConfigError, match=ALONE[name]):
                trainer_of(name, processes, left)
            continue
        found = []
        for left.kind in ("nothing", "number", "weight"):
            trainer = trainer_of(name, processes, left)
            assert trainer.strategy.ranks == processes
            torch.manual_seed(1)
            loss, count = trainer.strategy.backward(groups)
            trainer.strategy.close()
            gradient = left.weight.grad
            found.append((float(loss) / count, None if gradient is None else gradient / count))
        (plain, before), (more, same), (learnt, after) = found
        assert more - plain == pytest.approx(EXTRA, rel=1e-4), way
        weight = left.weight.detach()
        size = float(weight.square().sum())
        assert size > 0
        assert learnt - plain == pytest.approx(EXTRA * size, rel=1e-3), way
        before = torch.zeros_like(weight) if before is None else before
        torch.testing.assert_close(torch.zeros_like(weight) if same is None else same, before)
        torch.testing.assert_close(after - before, 2 * EXTRA * weight, rtol=1e-3, atol=1e-5)


def test_these_are_all_tasks_that_can_be_trained() -> None:
    of_pictures = {kind for kind, _ in PICTURED.values()}
    assert {SUMMARISE, *of_pictures, *(words.split()[1] for words in RUNS.values())} == kinds(TaskConfig).keys()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", TRIED)
def test_a_validation_judges_without_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    left = Leaving(monkeypatch)
    metrics = []
    for left.kind in ("nothing", "number"):
        task, _, model = opened(name)
        torch.manual_seed(1)
        metrics.append(task.validate(model.eval()).metrics)
    assert metrics[0] == metrics[1]


@pytest.mark.usefixtures("home")
def test_it_stands_in_the_loss_that_people_see_and_in_no_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = change(read_recipe(Run("runs/transformer")), {"max_steps": 1, "validate_every": 1})
    start(Run("plain"), recipe)
    Leaving(monkeypatch)
    start(Run("more"), recipe)
    (one, other) = (read_records(Run(name).metrics_path) for name in ("plain", "more"))
    assert other[0]["loss"] - one[0]["loss"] == pytest.approx(EXTRA, rel=1e-4)
    assert other[1]["metrics"] == one[1]["metrics"]


def test_agreeing_passes_add_it_once(tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = change(recipe, {"dropout": 0.0, "agreement": 1.0})
    task = recipe.task.open(tmp_path / "data", lambda text: None)
    model = task.fit(recipe.model).build().train()
    trainer = make_trainer(Run(tmp_path), task, model, recipe.training)
    plain, count = trainer.strategy.backward([ROWS])
    Leaving(monkeypatch).kind = "number"
    more, _ = trainer.strategy.backward([ROWS])
    assert float(more - plain) / count == pytest.approx(EXTRA, rel=1e-4)


def test_an_experiment_adds_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Recall(length=60)
    config = change(decoder(), {"vocabulary": task.vocabulary})
    left, found = Leaving(monkeypatch), []
    for left.kind in ("nothing", "number"):
        found.append(RecallLearner(task, config, Learning(rows=2), steps=2, seed=0).step())
    assert found[1] - found[0] == pytest.approx(EXTRA, rel=1e-4)
