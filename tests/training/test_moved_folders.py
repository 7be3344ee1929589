"""A run folder that is deleted, renamed or replaced while it is trained is named and never made anew."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.config import change
from regard.lab import bench
from regard.lab.experiment import Experiment, ExperimentResult, Result, Results, Trial
from regard.runfolder import Run, RunError, write_text
from regard.tasks.writing.translation import TranslationTask
from regard.training.place import Place
from regard.training.seeds import several
from regard.training.session import Recipe, resume, start
from tests.conftest import Say
from tests.toy import MODEL, write_pairs

Change = Callable[[Path], None]


def deleted(path: Path) -> None:
    shutil.rmtree(path)


def renamed(path: Path) -> None:
    path.rename(path.with_name("renamed"))


def replaced(path: Path) -> None:
    renamed(path)
    path.mkdir()
    (path / "precious.txt").write_text("keep")


every_change = pytest.mark.parametrize("how", [deleted, renamed, replaced], ids=lambda how: how.__name__)


def while_training(monkeypatch: pytest.MonkeyPatch, how: Change, path: Path, at: int, where: str = "loss") -> None:
    plain, count = getattr(TranslationTask, where), 0

    def moving(self: TranslationTask, *given: Any) -> Any:
        nonlocal count
        count += 1
        if count == at:
            how(path)
        return plain(self, *given)

    monkeypatch.setattr(TranslationTask, where, moving)


def check_left_alone(path: Path, how: Change) -> None:
    """Nothing was made where the folder was, and what was put there by others is as it was."""
    if how is replaced:
        assert [one.name for one in path.iterdir()] == ["precious.txt"]
    else:
        assert not path.exists()


@every_change
@pytest.mark.parametrize(
    ("where", "at", "saved"),
    [
        ("texts", 1, []),
        ("write_tokens", 1, []),
        ("fit", 1, []),
        ("loss", 3, []),
        ("loss", 13, [10]),
        ("validate", 2, [10]),
        ("probes", 2, [10]),
        ("findings", 1, [10, 20, 30, 40]),
        ("sections", 1, [10, 20, 30, 40]),
    ],
    ids=[
        "before the tokenizer",
        "before the tokens",
        "while it is prepared",
        "before a checkpoint",
        "after a checkpoint",
        "while it is validated",
        "while probes are taken",
        "while findings are made",
        "while the report is made",
    ],
)
def test_the_run_stops_and_is_not_made_anew(
    tmp_path: Path,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
    how: Change,
    where: str,
    at: int,
    saved: list[int],
) -> None:
    path, now = tmp_path / "run", tmp_path / "renamed"
    while_training(monkeypatch, how, path, at, where)
    with pytest.raises(RunError) as error:
        start(Run(path), recipe)
    assert str(error.value).startswith(f"{path} was deleted, renamed or replaced while it was written into; ")
    check_left_alone(path, how)
    if how is deleted:
        return
    if sys.platform == "linux":
        assert f"what was saved is in {now}: go on with it there, by --resume" in str(error.value)
    assert Run(now).checkpoints() == saved
    monkeypatch.undo()
    assert resume(Run(now)).step == 40


@every_change
@pytest.mark.parametrize(("where", "at"), [("fit", 1), ("loss", 3), ("sections", 1)])
def test_a_run_that_is_resumed_is_not_made_anew_either(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, how: Change, where: str, at: int
) -> None:
    path = tmp_path / "run"
    start(Run(path), change(recipe, {"max_steps": 20}))
    while_training(monkeypatch, how, path, at, where)
    with pytest.raises(RunError, match="was deleted, renamed or replaced while it was written into"):
        resume(Run(path), {"max_steps": 40})
    check_left_alone(path, how)


def test_the_command_is_one_sentence(tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["--train", write_pairs(tmp_path / "a.tsv", 300, 0), "--valid", write_pairs(tmp_path / "b.tsv", 20, 1)]
    while_training(monkeypatch, deleted, tmp_path / "run", 3)
    code, out, err = regard("train", "translate", *files, "--run", tmp_path / "run", *MODEL, "--max-steps", 30)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"regard train: {tmp_path / 'run'} was deleted, renamed or replaced")
    assert not (tmp_path / "run").exists()


@every_change
def test_the_folder_of_several_seeds_is_not_made_anew(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, how: Change
) -> None:
    while_training(monkeypatch, how, tmp_path / "seeds", 43)
    with pytest.raises(RunError, match="was deleted, renamed or replaced"):
        several(tmp_path / "seeds", recipe, 2)
    check_left_alone(tmp_path / "seeds", how)


@every_change
@pytest.mark.parametrize("when", ["while it is prepared", "in a trial"])
def test_the_folder_of_an_experiment_is_not_made_anew(tmp_path: Path, how: Change, when: str) -> None:
    folder = tmp_path / "lab"

    class Moved(Experiment):
        def trials(self, folder: Path, say: Any) -> list[Trial]:
            if when == "while it is prepared":
                how(folder)
                write_text(folder / "shared" / "pace.json", "{}")
            return [Trial("one", 1, self.trial)]

        def trial(self, place: Path) -> Result:
            how(folder)
            return {}

        def outcome(self, results: Results) -> ExperimentResult:
            raise AssertionError("nothing follows")

    with pytest.raises(RunError, match="was deleted, renamed or replaced"):
        bench.run(Moved(), folder, lambda line: None)
    check_left_alone(folder, how)


def test_a_folder_that_stays_may_change_inside(tmp_path: Path) -> None:
    place = Place(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    (tmp_path / "run" / "notes.txt").unlink()
    place.check()
