"""Runs that an earlier version wrote still load, answer the same, and resume to the same losses."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from regard.runfolder import Run
from regard.training.records import read_records
from tests.conftest import Say
from tests.old_runs.make import RUNS, STEPS, USES

ARCHIVE = Path(__file__).parent / "format-1.zip"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The old runs and their data, as the present folder: recipes name files from there."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expected(run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("runs", run, "expected.json").read_text())
    return found


def numbers(text: str) -> list[float]:
    return [float(one) for one in NUMBER.findall(text)]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", USES)
def test_an_old_run_gives_the_answers_it_gave(name: str, regard: Say) -> None:
    printed = expected(name)["printed"]
    code, out, err = regard(*USES[name])
    assert code == 0, err
    assert NUMBER.sub("#", out) == NUMBER.sub("#", printed)
    assert numbers(out) == pytest.approx(numbers(printed), rel=2e-3, abs=2e-4)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_resumes_to_the_losses_of_one_that_never_stopped(name: str, regard: Say) -> None:
    verb, task = RUNS[name].split()[:2]
    code, _, err = regard(verb, task, "--run", f"runs/{name}", "--resume")
    assert code == 0, err
    records = read_records(Run(f"runs/{name}").metrics_path)
    last = {one["event"]: one for one in records}
    assert last["step"]["step"] == STEPS
    assert last["step"]["loss"] == pytest.approx(expected(name)["loss"], rel=1e-4)
    metrics = expected(name)["metrics"]
    assert last["validation"]["metrics"] == pytest.approx(metrics, rel=1e-2, abs=1e-3)
