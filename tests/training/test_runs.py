"""Whole small runs: trained, resumed bit for bit, interrupted, killed, refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.checkpoint import read_tensors, write_tensors
from regard.config import change
from regard.decoding import Decoding
from regard.errors import DataError
from regard.runfolder import Run, RunError
from regard.tasks.base import Validation
from regard.tasks.writing.translation import TranslationTask, load_translator
from regard.training.health import TrainingError
from regard.training.session import Recipe, make_trainer, read_recipe, resume, start
from regard.training.state import read_progress
from tests.toy import MEANINGS, WORDS, losses


def weights(run: Run, step: int) -> dict[str, torch.Tensor]:
    return read_tensors(run.checkpoint(step) / "model.safetensors")


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


@pytest.mark.parametrize(
    ("optimiser", "average"),
    [
        ("adamw", "none"),
        ("adamw", "exponential"),
        ("adamw", {"kind": "last", "count": 3, "every": 4}),
        ("muon", "none"),
    ],
    ids=["adamw", "exponential", "last", "muon"],
)
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(
    tmp_path: Path, recipe: Recipe, optimiser: str, average: str | dict[str, object]
) -> None:
    recipe = change(recipe, {"optimiser": optimiser, "average": average})
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    start(whole, recipe)
    start(cut, recipe)
    for step in (30, 40):
        subprocess.run(["rm", "-r", str(cut.checkpoint(step))], check=True)  # as if stopped soon after step 20
    resume(cut)
    assert losses(cut) == losses(whole)
    assert_same(weights(cut, 40), weights(whole, 40))
    assert_same(read_tensors(cut.weights_path), read_tensors(whole.weights_path))


def test_a_seed_repeats_a_run_and_another_one_does_not(tmp_path: Path, recipe: Recipe) -> None:
    runs = [Run(tmp_path / str(number)) for number in range(3)]
    for run, seed in zip(runs, (1, 1, 2), strict=True):
        start(run, change(recipe, {"seed": seed, "max_steps": 20}))
    assert losses(runs[0]) == losses(runs[1]) != losses(runs[2])


def test_it_learns_and_the_run_translates(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    progress = start(run, change(recipe, {"max_steps": 250, "validate_every": 125}))
    assert progress.metrics["bleu"] > 80
    translator = load_translator(run.path)
    assert translator.texts(["deux trois un six"], Decoding(beam=3)) == ["two three one six"]


def test_accumulated_batches_equal_one_large_batch(tmp_path: Path, recipe: Recipe) -> None:
    task = recipe.task.open(tmp_path / "data", lambda text: None)
    config = task.fit(change(recipe.model, {"dropout": 0.0}))
    gradients = []
    for groups in ([range(8)], [range(3), range(3, 8)]):
        torch.manual_seed(0)
        model = config.build()
        trainer = make_trainer(Run(tmp_path / "run"), task, model, recipe.training)
        kept: list[torch.Tensor] = []
        trainer.optimisers = [Recorder(model, kept)]  # type: ignore[list-item]
        trainer.step([np.array(group) for group in groups])
        gradients.append(kept)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


class Recorder:
    """Stands in for an optimiser and keeps the gradients it is given."""

    def __init__(self, model: torch.nn.Module, kept: list[torch.Tensor]) -> None:
        self.model, self.kept, self.param_groups = model, kept, [{"full_rate": 1.0, "lr": 1.0}]

    def step(self) -> None:
        self.kept.extend(p.grad.clone() for p in self.model.parameters() if p.grad is not None)

    def zero_grad(self) -> None:
        self.model.zero_grad()


def test_an_existing_folder_is_refused_and_left_alone(tmp_path: Path, recipe: Recipe) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "precious.txt").write_text("keep")
    with pytest.raises(RunError, match="exists; go on with --resume, or choose another folder"):
        start(Run(folder), recipe)
    assert [path.name for path in folder.iterdir()] == ["precious.txt"]


def test_a_mistake_in_the_data_leaves_no_folder_in_the_way(tmp_path: Path, recipe: Recipe) -> None:
    run, train = Run(tmp_path / "run"), tmp_path / "train.tsv"
    whole = train.read_text()
    train.write_text(whole + "no tab here\n")
    with pytest.raises(DataError, match=r"train\.tsv, line 301: no tab"):
        start(run, recipe)
    assert not run.path.exists()
    train.write_text(whole)
    assert start(run, change(recipe, {"max_steps": 10})).step == 10


def test_resuming_where_no_checkpoint_was_written_starts_anew(tmp_path: Path, recipe: Recipe) -> None:
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    start(whole, recipe)
    start(cut, recipe)
    subprocess.run(["rm", "-r", str(cut.checkpoints_path)], check=True)
    resume(cut)
    assert losses(cut) == losses(whole)


def test_a_loss_that_is_not_a_number_stops_with_step_batch_and_checkpoint(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_steps": 10}))
    config = json.loads(run.config_path.read_text())
    config["training"]["max_steps"] = 40
    run.config_path.write_text(json.dumps(config))
    path = run.checkpoint(10) / "model.safetensors"
    tensors = {name: tensor * float("nan") for name, tensor in read_tensors(path).items()}
    write_tensors(path, tensors)
    with pytest.raises(
        TrainingError, match=r"the loss became nan at step 11, with the examples.*checkpoint is .*step-10"
    ):
        resume(run)


def test_a_checkpoint_of_another_configuration_is_refused(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_steps": 10}))
    config = json.loads(run.config_path.read_text())
    config["model"]["encoder"]["layers"] = 2
    run.config_path.write_text(json.dumps(config))
    with pytest.raises(RunError, match="it belongs to another configuration"):
        resume(run)


def test_patience_ends_a_run_that_gets_no_better(tmp_path: Path, recipe: Recipe) -> None:
    progress = start(Run(tmp_path / "run"), change(recipe, {"patience": 2, "rate": 1e-12, "max_steps": 400}))
    assert progress.step < 100


def test_the_recipe_of_a_run_reads_back(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_steps": 10}))
    again = read_recipe(run)
    assert again.training == change(recipe, {"max_steps": 10, "processes": 1}).training
    assert again.model.vocabulary == len({*WORDS, *MEANINGS.values()}) + 4


def command(tmp_path: Path, run: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "regard", "train", "translate", "--run", str(run)),
        *("--train", str(tmp_path / "train.tsv"), "--valid", str(tmp_path / "valid.tsv"), "--tokenizer", "word"),
        *("--layers", "1", "--width", "32", "--heads", "2", "--hidden", "48", "--batch-tokens", "200"),
        *("--validate-every", "20", *more),
    ]


def wait_for(run: Run, steps: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(run.checkpoints()) < steps and time.monotonic() < deadline:
        assert process.poll() is None, "the run ended by itself"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill -9"])
def test_a_stopped_run_goes_on_to_the_same_losses(tmp_path: Path, recipe: Recipe, number: int) -> None:
    """`recipe` is asked for because it writes the files."""
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    subprocess.run(command(tmp_path, whole.path, "--max-steps", "200"), check=True, capture_output=True)
    process = subprocess.Popen(
        command(tmp_path, cut.path, "--max-steps", "200"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(cut, 2, process)
    os.kill(process.pid, number)
    process.wait(60)
    resumed = [sys.executable, "-m", "regard", "train", "translate", "--run", str(cut.path), "--resume"]
    subprocess.run(resumed, check=True, capture_output=True)
    assert dict(losses(cut))[200] == dict(losses(whole))[200]
    assert_same(weights(cut, 200), weights(whole, 200))


# --- damaged, replaced, elsewhere -------------------------------------------------------------------------------------


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def test_a_damaged_checkpoint_is_told_and_the_one_before_it_goes_on(
    tmp_path: Path, recipe: Recipe, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, damaged = Run(tmp_path / "whole"), Run(tmp_path / "damaged")
    for run in (whole, damaged):
        start(run, recipe)
    newest, before = damaged.checkpoints()[-1], damaged.checkpoints()[-2]
    cut_off(damaged.checkpoint(newest) / "optimiser.safetensors")
    resume(damaged)
    told = capsys.readouterr().err
    assert "optimiser.safetensors is no whole safetensors file" in told
    assert f"resumed at step {before}" in told
    assert_same(weights(damaged, newest), weights(whole, newest))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("average.safetensors", "average.safetensors is missing"),
        ("random.safetensors", "no checkpoint of .* can be read: train anew"),
        ("progress.json", "no checkpoint of .* can be read: train anew"),
    ],
)
def test_a_checkpoint_that_lacks_something_is_not_gone_on_from(
    tmp_path: Path, recipe: Recipe, name: str, told: str
) -> None:
    run = Run(tmp_path / "run")
    start(run, recipe)
    for step in run.checkpoints():
        (run.checkpoint(step) / name).unlink()
    with pytest.raises(RunError, match=told):
        resume(run)


def test_a_progress_of_which_a_part_is_missing_is_refused(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, recipe)
    (run.checkpoint(run.checkpoints()[-1]) / "progress.json").write_text('{"step": 4}')
    with pytest.raises(RunError, match=r"progress\.json does not have just step, epoch"):
        read_progress(run.checkpoint(run.checkpoints()[-1]))


def test_only_a_run_on_the_same_examples_is_replaced(tmp_path: Path, recipe: Recipe) -> None:
    run, short = Run(tmp_path / "run"), change(recipe, {"max_steps": 2})
    run.path.mkdir()
    (run.path / "thesis.txt").write_text("all of it")
    with pytest.raises(RunError, match="holds something else"):
        start(run, short, overwrite=True)
    assert (run.path / "thesis.txt").read_text() == "all of it"
    (run.path / "thesis.txt").unlink()
    start(run, short)
    with pytest.raises(RunError, match="holds something else"):
        start(run, change(short, {"task.train.count": 9}), overwrite=True)
    (run.path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"holds notes\.txt beside a run"):
        start(run, short, overwrite=True)
    (run.path / "notes.txt").unlink()
    assert start(run, change(short, {"max_steps": 3}), overwrite=True).step == 3


def test_training_outside_the_main_thread(tmp_path: Path, recipe: Recipe) -> None:
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(start, Run(tmp_path / "run"), change(recipe, {"max_steps": 2})).result()
    assert done.step == 2


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_tells_of_the_weights_that_were_kept(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter([11.125, 77.5, 22.25, 33.0])
    monkeypatch.setattr(
        TranslationTask, "validate", lambda self, model: Validation({"bleu": next(values), "loss": 1.0})
    )
    monkeypatch.chdir(tmp_path)
    run = Run("a run")
    start(run, recipe)
    page = (run.path / "report.html").read_text()
    result = page[: page.index("How it went")]
    assert "77.5" in result
    assert "20 of 40" in result
    assert "33.0" not in result
    assert "regard train translate --config &#x27;a run/recipe.yaml&#x27; --run &#x27;a run-again&#x27;" in page
