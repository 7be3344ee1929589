"""Ctrl-C and SIGTERM end a training in order, what was learnt is judged and kept, and the exit code tells of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import read_tensors
from regard.config import change
from regard.runfolder import Run
from regard.tasks.base import Validation
from regard.tasks.writing.translation import Translation, TranslationTask
from regard.training.records import read_records, validated
from regard.training.seeds import several
from regard.training.session import Recipe, resume, start
from regard.training.signals import Interrupted
from tests.conftest import Say
from tests.toy import MODEL, losses, write_pairs

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
every_signal = pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)


def at_step(
    monkeypatch: pytest.MonkeyPatch, steps: tuple[int, ...], number: signal.Signals, where: str = "loss"
) -> None:
    """Send this process a signal in the loss of such steps, or in such validations."""
    plain, count = getattr(TranslationTask, where), 0

    def sending(self: TranslationTask, *given: Any) -> Any:
        nonlocal count
        count += 1
        if count in steps:
            signal.raise_signal(number)
        return plain(self, *given)

    monkeypatch.setattr(TranslationTask, where, sending)


@every_signal
def test_an_interrupted_run_is_judged_and_raises(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    run = Run(tmp_path / "run")
    at_step(monkeypatch, (13,), number)
    with pytest.raises(Interrupted) as stop:
        start(run, recipe)
    assert stop.value.exit_code == CODES[number]
    assert stop.value.progress is not None
    assert stop.value.progress.step == 13
    assert run.checkpoints() == [10, 13]
    events = [(one["event"], one["step"]) for one in read_records(run.metrics_path)]
    assert events[-3:] == [("step", 13), ("validation", 13), ("end", 13)]
    assert validated(run.metrics_path, 13).keys() == {"bleu", "chrf", "loss"}
    assert signal.getsignal(number) not in (None, signal.SIG_IGN)


def test_the_last_weights_are_kept_where_they_are_the_best(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path / "run")
    with monkeypatch.context() as patch:
        at_step(patch, (13,), signal.SIGINT)
        with pytest.raises(Interrupted):
            start(run, change(recipe, {"metric": "loss"}))
    best = read_tensors(run.weights_path)
    average = read_tensors(run.checkpoint(13) / "average.safetensors")
    assert all(torch.equal(best[name], average[name]) for name in average)  # the loss still falls
    done = resume(run)
    assert done.step == 40


def test_an_interrupted_run_goes_on_to_the_same_end(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also to the same patience: the validation of an interruption does not count as one more without success."""
    recipe = change(recipe, {"patience": 2, "max_steps": 400, "validate_every": 5})
    monkeypatch.setattr(TranslationTask, "validate", lambda self, model: Validation({"bleu": 0.0, "loss": 3.0}))
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    done = start(whole, recipe)
    assert done.step == 15
    for step in (3, 4, 4):
        go_on = partial(resume, cut) if cut.exists() else partial(start, cut, recipe)
        with monkeypatch.context() as patch:
            at_step(patch, (step,), signal.SIGTERM)
            with pytest.raises(Interrupted):
                go_on()
    assert resume(cut).step == done.step
    one, other = (read_tensors(run.checkpoint(15) / "model.safetensors") for run in (cut, whole))
    assert all(torch.equal(one[name], other[name]) for name in other)


def test_a_second_signal_ends_it_at_once_and_nothing_is_lost(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, whole = Run(tmp_path / "run"), Run(tmp_path / "whole")
    start(whole, recipe)
    at_step(monkeypatch, (13,), signal.SIGINT)
    at_step(monkeypatch, (2,), signal.SIGTERM, "validate")
    with pytest.raises(Interrupted) as stop:
        start(run, recipe)
    assert (stop.value.exit_code, stop.value.progress) == (143, None)
    assert run.checkpoints() == [10, 13]
    monkeypatch.undo()
    resume(run)
    assert dict(losses(run))[40] == dict(losses(whole))[40]


def test_a_signal_while_it_is_validated_ends_it_after_that(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path / "run")
    at_step(monkeypatch, (1,), signal.SIGINT, "validate")
    with pytest.raises(Interrupted):
        start(run, recipe)
    assert [one["step"] for one in read_records(run.metrics_path) if one["event"] == "validation"] == [10]
    assert run.checkpoints() == [10]


def test_seeds_that_are_interrupted_raise_and_go_on(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, (53,), signal.SIGTERM)
        with pytest.raises(Interrupted):
            several(tmp_path / "seeds", recipe, 2)
    assert Run(tmp_path / "seeds" / "seed-2").checkpoints() == [10, 13]
    assert not (tmp_path / "seeds" / "seeds.json").exists()
    assert len(several(tmp_path / "seeds", recipe, 2)["bleu"].values) == 2


def test_seeds_that_are_interrupted_before_the_report_of_one_get_it(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, (1,), signal.SIGINT, "findings")
        with pytest.raises(KeyboardInterrupt):
            several(tmp_path / "seeds", recipe, 2)
    several(tmp_path / "seeds", recipe, 2)
    for number in (1, 2):
        run = Run(tmp_path / "seeds" / f"seed-{number}")
        assert (run.path / "report.html").exists()
        assert run.section("alignment")


@pytest.mark.parametrize("more", [[], ["--seeds", 2]], ids=str)
def test_the_command_says_how_to_go_on_and_its_code_tells_of_the_signal(
    tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, more: list[Any]
) -> None:
    files = ["--train", write_pairs(tmp_path / "a.tsv", 300, 0), "--valid", write_pairs(tmp_path / "b.tsv", 20, 1)]
    at_step(monkeypatch, (3,), signal.SIGTERM)
    words = ["train", "translate", *files, "--run", tmp_path / "run", *MODEL, "--max-steps", 9, *more]
    code, out, _ = regard(*words)
    assert code == 143
    first, *rest = out.splitlines()
    if more:
        assert (first, rest) == ("stopped at step 3; go on with: the same command", [])
    else:
        assert first == f"stopped at step 3; go on with: regard train translate --run {tmp_path / 'run'} --resume"
        assert rest[0].startswith(f"{tmp_path / 'run'}: best at step 3 of 3  ")
        assert "bleu" in rest[0]
    monkeypatch.undo()
    assert regard(*words, "--resume")[0] == 0


@pytest.mark.parametrize("where", ["open", "findings"])
@pytest.mark.parametrize("more", [[], ["--seeds", 2]], ids=str)
def test_it_says_how_to_go_on_also_before_and_after_the_training_itself(
    tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, more: list[Any], where: str
) -> None:
    files = ["--train", write_pairs(tmp_path / "a.tsv", 300, 0), "--valid", write_pairs(tmp_path / "b.tsv", 20, 1)]
    words = ["train", "translate", *files, "--run", tmp_path / "run", *MODEL, "--max-steps", 9, *more]
    with monkeypatch.context() as patch:
        if where == "open":
            patch.setattr(Translation, where, lambda self, *given: signal.raise_signal(signal.SIGINT))
        else:
            at_step(patch, (1,), signal.SIGINT, where)
        code, out, _ = regard(*words)
    command = "the same command" if more else f"regard train translate --run {tmp_path / 'run'} --resume"
    assert (code, out) == (130, f"stopped at once; what was saved before is kept; go on with: {command}\n")
    assert regard(*words, "--resume")[0] == 0
    assert (tmp_path / "run" / ("seed-1" if more else "") / "report.html").exists()


def test_a_search_for_a_rate_keeps_nothing_to_go_on_with(
    tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ["--train", write_pairs(tmp_path / "a.tsv", 300, 0), "--valid", write_pairs(tmp_path / "b.tsv", 20, 1)]
    at_step(monkeypatch, (3,), signal.SIGINT)
    (tmp_path / "run").mkdir()
    code, out, _ = regard("train", "translate", *files, "--run", tmp_path / "run", *MODEL, "--find-rate", 20)
    assert (code, out) == (130, "")


@every_signal
def test_a_shell_does_not_go_on_after_an_interrupted_training(tmp_path: Path, number: signal.Signals) -> None:
    files = [
        "--train",
        str(write_pairs(tmp_path / "a.tsv", 300, 0)),
        "--valid",
        str(write_pairs(tmp_path / "b.tsv", 9, 1)),
    ]
    run = Run(tmp_path / "run")
    words = [*files, "--run", str(run.path), *MODEL, "--max-steps", "100000", "--validate-every", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", "train", "translate", *words], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not run.checkpoints() and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(60) == CODES[number]
