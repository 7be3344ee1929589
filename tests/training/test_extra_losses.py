"""What a layer adds to the loss keeps its size, however many words a batch has and however it is computed; a task that
would drop it refuses the model."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.checkpoint import Run
from regard.config import ConfigError, change, kinds
from regard.data.examples import TextData
from regard.decoding import parallel
from regard.lab.recall import Learner, Learning, Recall
from regard.models import Model
from regard.nn.context import Context
from regard.tasks.base import TaskConfig
from regard.tasks.language.task import LanguageModelling
from regard.training.loop import Trainer
from regard.training.session import Recipe
from tests.conftest import Say
from tests.helpers import decoder
from tests.old_runs.make import RUNS
from tests.old_runs.test_old_runs import ARCHIVE

EXTRA = 2.01
NAME = "encoder.0.balance"
ADDING = {"translate", "lm"}  # the tasks that add what layers add


class Leaving:
    """Lets every model leave an extra loss in its passes: a number, or so much for the size of its first parameter."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.learns, plain = False, Model.whole

        def whole(model: Model, *given: Any, **named: Any) -> Context:
            context = plain(model, *given, **named)
            context.losses[NAME] = self.of(model)
            return context

        patch.setattr(Model, "whole", whole)

    def of(self, model: Model) -> Tensor:
        return EXTRA * next(model.parameters()).square().sum() if self.learns else torch.tensor(EXTRA)


def opened(recipe: Recipe, kind: str, folder: Path) -> tuple[Any, Recipe]:
    """A task with its data, and the recipe of a small model without dropout."""
    recipe = change(recipe, {"dropout": 0.0})
    if kind == "lm":
        text = folder / "text.txt"
        text.write_text("the dog sings\nthe cat sleeps\n" * 40, encoding="utf-8")
        task = LanguageModelling(train=TextData(file=str(text)), tokenizer="char", context=12)
        recipe = Recipe(task, decoder(), recipe.training)
    if kind == "agreement":
        recipe = change(recipe, {"agreement": 1.0})
    return recipe.task.open(folder / "data", lambda text: None), recipe


@pytest.mark.parametrize("kind", ["translate", "agreement", "lm"])
@pytest.mark.parametrize("count", [1, 7])
def test_an_extra_loss_keeps_its_size_in_the_mean_loss(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, kind: str, count: int
) -> None:
    task, recipe = opened(recipe, kind, tmp_path)
    model = task.fit(recipe.model).build().train()
    plain, words = task.loss(model, np.arange(count))
    Leaving(monkeypatch)
    loss, _ = task.loss(model, np.arange(count))
    assert float((loss - plain).detach()) / words == pytest.approx(EXTRA, rel=1e-4)


def test_a_validation_judges_by_the_words_alone(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("translate", "lm"):
        (tmp_path / kind).mkdir()
        task, small = opened(recipe, kind, tmp_path / kind)
        model = task.fit(small.model).build().eval()
        expected = task.validate(model).metrics
        with monkeypatch.context() as patch:
            Leaving(patch)
            assert task.validate(model).metrics == expected


BATCH = np.arange(7)
WAYS = {"one batch": ([BATCH], 1), "batches of several sizes": ([BATCH[:5], BATCH[5:6], BATCH[6:]], 1)}
if sys.platform == "linux":  # where processes are copied
    WAYS |= {"two processes": ([BATCH], 2), "batches of two processes": ([BATCH[:4], BATCH[4:]], 2)}


@pytest.mark.parametrize(("groups", "processes"), WAYS.values(), ids=WAYS)
def test_its_gradient_is_the_same_however_a_batch_is_computed(
    tmp_path: Path,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
    groups: list[np.ndarray[Any, Any]],
    processes: int,
) -> None:
    monkeypatch.setattr(parallel, "active_count", lambda: 1)  # who runs tests side by side has threads of its own
    task, recipe = opened(recipe, "translate", tmp_path)
    left, found = Leaving(monkeypatch), []
    for learns in (False, True):
        left.learns = learns
        torch.manual_seed(0)
        model = task.fit(recipe.model).build().train()
        training = change(recipe.training, {"processes": processes})
        trainer = Trainer(Run(tmp_path), task, model, training, lambda record: None)
        assert len(trainer.crew.helpers) == processes - 1
        loss, words = trainer.gradients(groups)
        trainer.crew.close()
        found.append((float(loss) / words, next(model.parameters()).grad))
    (plain, before), (mean, after) = found
    weight = next(model.parameters()).detach()
    assert mean - plain == pytest.approx(EXTRA * (float(weight.square().sum()) - 1), rel=1e-3)
    torch.testing.assert_close(after - before, 2 * EXTRA * weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name, words in RUNS.items() if words.split()[1] not in ADDING])
def test_a_task_that_would_drop_it_refuses_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Say, name: str
) -> None:
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path, [one for one in archive.namelist() if one.startswith(("data/", f"runs/{name}/"))])
    monkeypatch.chdir(tmp_path)
    Leaving(monkeypatch)
    before = Run(f"runs/{name}").checkpoints()
    code, _, err = regard(*RUNS[name].split()[:2], "--run", f"runs/{name}", "--resume")
    assert code != 0
    assert f"layers of this model add to the loss ({NAME})" in err
    assert Run(f"runs/{name}").checkpoints() == before  # it has learnt nothing without it


def test_every_task_adds_or_refuses() -> None:
    assert {words.split()[1] for words in RUNS.values()} == kinds(TaskConfig).keys()


def test_an_experiment_that_would_drop_it_refuses_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    Leaving(monkeypatch)
    task = Recall(length=60)
    with pytest.raises(ConfigError, match="layers of this model add to the loss"):
        Learner(task, change(decoder(), {"vocabulary": task.vocabulary}), Learning(rows=2), steps=2, seed=0).step()
