"""An experiment goes on where it stopped, repeats nothing that is finished, and refuses other options."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

import pytest

from regard.cli.options import read_changes
from regard.config import change
from regard.lab import EXPERIMENTS, MINUTES, bench, find
from regard.lab.bench import remaining
from regard.lab.bottleneck import Bottleneck
from regard.lab.experiment import Experiment, ExperimentResult, Result, Results, Say, Trial
from regard.lab.report import command, text
from regard.lab.scores import AttentionScores
from regard.nn.attention.scores import Additive
from regard.page.records import Card, DotChart, LineChart, Point, Series, Table
from regard.runfolder import RunError

done: list[str] = []


@dataclass(frozen=True)
class Counting(Experiment, kind="counting"):
    """Writes down which trials ran; `stop` names one that ends as if by Ctrl-C."""

    stop: ClassVar[str] = ""

    def trials(self, folder: Path, say: Say) -> Sequence[Trial]:
        return [
            Trial(name, seed, partial(self.trial, f"{name}-{seed}"))
            for name in ("one two", "three")
            for seed in range(1, self.seeds + 1)
        ]

    def trial(self, name: str, place: Path) -> Result:
        if name == self.stop:
            raise KeyboardInterrupt
        done.append(name)
        return {"value": len(done)}

    def outcome(self, results: Results) -> ExperimentResult:
        rows = [[name, str([one["value"] for one in trials])] for name, trials in results.items()]
        points = [Point(place, place**2, place**2 - 1, place**2 + 1) for place in range(1, 5)]
        panels = [
            Card("a curve", LineChart([Series("square", points)], "x", "squares", log_x=2)),
            Card("dots", DotChart([("a", points[:2]), ("b", points[2:])], ("left", "right"), "x", "dots")),
        ]
        return ExperimentResult(
            [Table(("", "values"), rows, "Values")], panels, ["it was counted & told"], {"rows": rows}
        )


@pytest.fixture(autouse=True)
def _nothing_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done.clear()
    monkeypatch.setattr(Counting, "stop", "")


def say(line: str) -> None:
    """Nobody listens."""


def test_trials_run_seed_by_seed_and_a_finished_one_is_never_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counting, "stop", "one two-2")
    with pytest.raises(KeyboardInterrupt):
        bench.run(Counting(seeds=2), tmp_path / "lab", say)
    assert done == ["one two-1", "three-1"]
    assert not (tmp_path / "lab" / "results.json").exists()
    monkeypatch.setattr(Counting, "stop", "")
    outcome = bench.run(Counting(seeds=2), tmp_path / "lab", say)
    assert done == ["one two-1", "three-1", "one two-2", "three-2"]
    assert outcome.tables[0].rows == [["one two", "[1, 3]"], ["three", "[2, 4]"]]
    assert bench.run(Counting(seeds=2), tmp_path / "lab", say) == outcome
    assert len(done) == 4


def test_results_figure_and_report_are_written(tmp_path: Path) -> None:
    outcome = bench.run(Counting(seeds=1), tmp_path, say)
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["experiment"] == {"kind": "counting", "budget": 10.0, "seeds": 1}
    assert results["conclusions"] == ["it was counted & told"]
    figure = ElementTree.parse(tmp_path / "figure.svg").getroot()
    assert figure.tag == "{http://www.w3.org/2000/svg}svg"
    page = (tmp_path / "report.html").read_text()
    assert "it was counted &amp; told" in page
    assert f"regard lab counting --import {__name__} --budget 10.0 --seeds 1<" in page  # it is none of ours
    assert "Values" in text(outcome)


@pytest.mark.parametrize(
    "experiment",
    [
        Bottleneck(),
        Bottleneck(score=Additive(), lengths=(10, 20), pairs=None, even=False, data="multi30k", languages="en-de"),
        AttentionScores(budget=12.5, seeds=2, steps=40),
    ],
)
def test_the_command_of_a_report_asks_for_the_same_experiment(experiment: Experiment) -> None:
    regard, lab, name, *words = shlex.split(command(experiment))
    assert [regard, lab] == ["regard", "lab"]
    assert {"--budget", "--seeds"} <= {*words}
    assert change(find(name)(), read_changes(words)) == experiment


def test_the_time_that_is_left_follows_from_the_trials_before() -> None:
    assert remaining(["a", "b"], {}) == ""
    assert remaining(["a", "b", "new"], {"a": 60.0, "b": 180.0}) == "; about 6 minutes left"


def test_other_options_are_refused_unless_it_begins_anew(tmp_path: Path) -> None:
    bench.run(Counting(seeds=1), tmp_path, say)
    with pytest.raises(RunError, match="was begun with seeds 1, not 2: ask for the same to go on"):
        bench.run(Counting(seeds=2), tmp_path, say)
    bench.run(Counting(seeds=2), tmp_path, say, fresh=True)
    assert done == ["one two-1", "three-1", "one two-1", "three-1", "one two-2", "three-2"]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"format": 1, "task": {}}')
    for fresh in (False, True):
        with pytest.raises(RunError, match="holds no experiment"):
            bench.run(Counting(), tmp_path, say, fresh=fresh)
    assert json.loads((tmp_path / "config.json").read_text()) == {"format": 1, "task": {}}


def test_every_experiment_is_found_and_takes_the_minutes_that_help_states() -> None:
    assert {name: round(find(name)().minutes()) for name in EXPERIMENTS} == MINUTES
    assert all(find(name)().kind == name for name in EXPERIMENTS)
