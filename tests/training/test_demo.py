"""`regard demo`, in small: what it prints and writes, that it replaces itself alone, and that it can be stopped."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from regard.cli import demo, demo_pictures
from regard.runfolder import Run
from regard.training.trainer import Trainer
from tests.conftest import Say

SMALL = (
    *("--task.train.count", 300, "--task.valid.count", 8, "--pieces", 400, "--max-steps", 4, "--validate-every", 2),
    *("--width", 16, "--heads", 2, "--hidden", 16),
)


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TEST_SENTENCES", 6)


def test_it_scores_translates_and_says_what_to_try_and_replaces_itself(regard: Say, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    for _ in range(2):
        code, out, err = regard("demo", "--run", folder, *SMALL)
        assert code == 0, err
        assert "held-out sentences: BLEU " in out
        assert "word alignment from decoder." in out
        assert out.count("→") == demo.SENTENCES_SHOWN
        assert f"open {folder}/report.html in a browser" in out
        assert (folder / "report.html").exists()


def test_pictures_are_captioned_and_scored_on_scenes_never_seen(
    regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_pictures, "TEST_SCENES", 4)
    fewer = ("--task.train.count", 40, "--task.valid.count", 4, "--max-steps", 2, "--validate-every", 2)
    folder = tmp_path / "demo"
    for _ in range(2):
        code, out, err = regard("demo", "--pictures", "--run", folder, *fewer, "--task.side", 16)
        assert code == 0, err
        assert "scenes drawn anew: CIDEr-D " in out
        assert "scenes in combinations of colour and shape never seen: CIDEr-D " in out
        assert out.count("→") == 2 * demo_pictures.SCENES_SHOWN
        assert f"caption {folder} PICTURE" in out


def test_a_folder_with_anything_else_is_left_alone(regard: Say, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    code, out, err = regard("demo", "--run", tmp_path, *SMALL)
    assert (code, out) == (2, "")
    assert "holds something else: choose another folder" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("at", [1, 3])
def test_when_it_is_stopped_it_says_how_to_go_on(
    regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    ending = Trainer.ending

    def stopped(self: Trainer) -> str:
        self.interrupted = signal.SIGTERM if self.progress.step >= at else 0
        return ending(self)

    monkeypatch.setattr(Trainer, "ending", stopped)
    code, out, _ = regard("demo", "--run", tmp_path / "demo", *SMALL)
    assert code == 143
    assert out.startswith(f"stopped at step {at}; go on with: ")
    assert out.endswith(f"train translate --run {tmp_path / 'demo'} --resume\n")
    monkeypatch.undo()
    code, out, _ = regard("train", "translate", "--run", tmp_path / "demo", "--resume")
    assert (code, "of 4  loss" in out) == (0, True)
    assert Run(tmp_path / "demo").checkpoints()[-1] == 4
