"""A batch shared out over processes: the same gradients, exact resume, and an end when something goes wrong."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.checkpoint import read_tensors
from regard.config import ConfigError, change
from regard.data.batches import Batches
from regard.decoding import parallel
from regard.errors import Error
from regard.models import Model
from regard.runfolder import Run
from regard.tasks.writing.translation import TranslationTask
from regard.training.forked import Forked, Helper, shares_of
from regard.training.health import TrainingError
from regard.training.session import Recipe, make_trainer, read_recipe, resume, start
from regard.training.trainer import Trainer
from tests.toy import losses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
BATCH = np.arange(7)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who runs tests side by side has threads of its own; a copy of the process needs nothing of them."""
    monkeypatch.setattr(parallel, "active_count", lambda: 1)


@pytest.fixture
def task(tmp_path: Path, recipe: Recipe) -> TranslationTask:
    return recipe.task.open(tmp_path / "data", lambda text: None)  # type: ignore[return-value]


def trainer_of(task: TranslationTask, recipe: Recipe, folder: Path, **changes: Any) -> Trainer:
    torch.manual_seed(0)
    model = task.fit(recipe.model).build().train()
    return make_trainer(Run(folder), task, model, change(recipe.training, changes))


def helpers_of(trainer: Trainer) -> list[Helper]:
    assert isinstance(trainer.strategy, Forked)
    return trainer.strategy.helpers


def gradients(trainer: Trainer) -> tuple[float, int, list[torch.Tensor]]:
    torch.manual_seed(1)
    loss, count = trainer.strategy.backward([BATCH, BATCH[::-1]])
    return float(loss), count, [p.grad.clone() for p in trainer.model.parameters() if p.grad is not None]


@pytest.mark.parametrize("processes", [2, 3, 16])
def test_helpers_find_the_gradients_that_the_leader_finds_alone(
    tmp_path: Path, task: TranslationTask, recipe: Recipe, processes: int
) -> None:
    together, alone = (trainer_of(task, recipe, tmp_path, processes=processes) for _ in range(2))
    alone.strategy.close()
    assert len(helpers_of(together)) == processes - 1
    (loss, count, found), (other, tokens, wanted) = gradients(together), gradients(alone)
    together.strategy.close()
    assert (loss, count) == (other, tokens)
    assert len(found) == len(wanted) > 0
    assert all(torch.equal(one, another) for one, another in zip(found, wanted, strict=True))


def test_shares_have_the_gradient_of_the_whole_batch(tmp_path: Path, task: TranslationTask, recipe: Recipe) -> None:
    plain = change(recipe, {"dropout": 0.0})
    shared, whole = (trainer_of(task, plain, tmp_path, processes=processes) for processes in (2, 1))
    (loss, count, found), (other, tokens, wanted) = gradients(shared), gradients(whole)
    shared.strategy.close()
    assert count == tokens
    assert loss == pytest.approx(other, rel=1e-5)
    for one, another in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, another, rtol=1e-4, atol=1e-6)


def test_helpers_see_every_step_of_the_weights(tmp_path: Path, recipe: Recipe) -> None:
    """Were their weights those of the start, the run would end elsewhere."""
    runs = [Run(tmp_path / name) for name in ("together", "alone")]
    start(runs[0], change(recipe, {"processes": 2}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regard.training.forked.forkable", lambda device: False)
        start(runs[1], change(recipe, {"processes": 2}))
    assert losses(runs[0]) == losses(runs[1])
    one, other = (read_tensors(run.weights_path) for run in runs)
    assert all(torch.equal(one[name], other[name]) for name in other)


def test_a_resumed_run_keeps_its_processes_and_its_losses(tmp_path: Path, recipe: Recipe) -> None:
    recipe = change(recipe, {"processes": 2, "optimiser": "muon"})
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    start(whole, recipe)
    start(cut, recipe)
    for step in (30, 40):
        shutil.rmtree(cut.checkpoint(step))
    resume(cut)
    assert read_recipe(cut).training.processes == 2
    assert losses(cut) == losses(whole)


def test_a_run_that_knew_no_processes_goes_on_in_one(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_steps": 10}))
    config = run.read_config()
    del config["training"]["processes"]
    run.write_config(config)
    monkeypatch.setattr("regard.training.session.shares_of", lambda batches, model, asked: asked or 2)
    resume(run, {"max_steps": 20})
    assert read_recipe(run).training.processes == 1


def test_the_number_of_processes_is_chosen_and_recorded(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_steps": 2}))
    assert read_recipe(run).training.processes == 1  # the batches are small


def test_small_whole_and_remembered_batches_are_not_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    model, keeping = torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)
    lengths = [np.full(1000, 20)]
    assert shares_of(Batches(lengths, 4000, 1), model) == 4
    assert shares_of(Batches(lengths, 2000, 1), model) == 2
    assert shares_of(Batches(lengths, 1000, 1), model) == 1
    assert shares_of(Batches(lengths, 4000, 1, max_rows=32), model) == 1
    assert shares_of(Batches(lengths, 4000, 1, whole=True), model) == 1
    assert shares_of(Batches(lengths, 4000, 1), keeping) == 1
    assert shares_of(Batches(lengths, 100, 1), model, 3) == 3  # asked for
    with pytest.raises(ConfigError, match="shared out over 2, for it is judged as a whole"):
        shares_of(Batches(lengths, 4000, 1, whole=True), model, 2)
    with pytest.raises(ConfigError, match="for the model keeps something of it in running_mean"):
        shares_of(Batches(lengths, 4000, 1), keeping, 2)


def test_a_parameter_that_no_share_uses_has_no_gradient() -> None:
    used, unused = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))

    strategy = Forked(2)
    strategy.begin(
        torch.nn.ParameterList([used, unused]), lambda indices: (used.sum() * int(indices.sum()), len(indices))
    )
    loss, count = strategy.backward([np.array([1, 2, 3])])
    strategy.close()
    assert (float(loss), count) == (12.0, 3)
    assert used.grad is not None
    assert used.grad.tolist() == [6.0, 6.0]
    assert unused.grad is None


def test_a_killed_helper_ends_the_run_with_a_sentence(tmp_path: Path, task: TranslationTask, recipe: Recipe) -> None:
    trainer = trainer_of(task, recipe, tmp_path / "run", processes=2)
    pid = helpers_of(trainer)[0].process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(TrainingError, match=r"was killed, .* at step 1; there is no checkpoint yet"):
        trainer.train()


def test_a_polite_kill_of_a_helper_is_the_affair_of_its_leader(
    tmp_path: Path, task: TranslationTask, recipe: Recipe
) -> None:
    trainer = trainer_of(task, recipe, tmp_path / "run", processes=2)
    pid = helpers_of(trainer)[0].process.pid
    assert pid is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        trainer.step([BATCH])  # it has come to where it listens
        os.kill(pid, number)
    trainer.step([BATCH])
    assert trainer.progress.step == 3
    trainer.strategy.close()
    assert not alive(pid)


def test_a_program_ends_that_never_closed_its_helpers() -> None:
    code = """
import torch
from regard.training.forked import Forked
strategy = Forked(3)
strategy.begin(torch.nn.Linear(2, 2), lambda indices: (torch.zeros(()), 1))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "told", "text"),
    [
        (Error("no such word"), TrainingError, "^no such word, at step 1"),
        (ValueError("no such word"), RuntimeError, r"(?s)Traceback .* in fails\n.*ValueError: no such word"),
    ],
    ids=["a mistake", "a bug"],
)
def test_what_goes_wrong_in_a_helper_is_said(
    tmp_path: Path,
    task: TranslationTask,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
    wrong: Exception,
    told: type[Exception],
    text: str,
) -> None:
    leader, loss = os.getpid(), TranslationTask.loss

    def fails(self: TranslationTask, model: Model, indices: np.ndarray[Any, Any]) -> tuple[torch.Tensor, int]:
        if os.getpid() != leader:
            raise wrong
        return loss(self, model, indices)

    monkeypatch.setattr(TranslationTask, "loss", fails)
    with pytest.raises(told, match=text):
        trainer_of(task, recipe, tmp_path / "run", processes=2).train()


def test_helpers_end_when_their_leader_is_killed() -> None:
    code = """
import time, numpy as np, torch
from regard.training.forked import Forked
strategy = Forked(3)
strategy.begin(torch.nn.Linear(2, 2), lambda indices: (torch.zeros(()), 1))
print(*(helper.process.pid for helper in strategy.helpers), flush=True)
time.sleep(60)
"""
    leader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert leader.stdout is not None
    helpers = [int(word) for word in leader.stdout.readline().split()]
    assert len(helpers) == 2
    leader.kill()
    leader.wait()
    leader.stdout.close()
    ends = time.monotonic() + 20
    while any(map(alive, helpers)) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not any(map(alive, helpers))


def alive(pid: int) -> bool:
    """Whether a process goes on; one that ended and that nobody asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
