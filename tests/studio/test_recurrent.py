"""Runs of recurrent taggers and biLMs in the studio: listed by what they have to show, and looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.look import look, open_run
from regard.studio.app import make_app
from tests.untrained import RECURRENT, TEXT, write_every_recurrent


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_every_recurrent(tmp_path_factory.mktemp("recurrent") / "runs")


@pytest.fixture(scope="module")
def client(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs), base_url="http://localhost") as client:
        yield client


def test_each_says_which_views_it_has(client: TestClient, runs: Path) -> None:
    names = [run["name"] for run in client.get("/api/runs").json()["runs"]]
    found = {name: client.get(f"/api/runs/{name}").json() for name in names}
    assert {name: (run["family"], [view["title"] for view in run["views"]]) for name, run in found.items()} == {
        "lstm": ("encoder", ["Read", "Training"]),
        "elmo": ("encoder", ["Read", "Training"]),
        "lstmn": ("encoder", ["Read", "Heads", "Training"]),
        "bilm": ("encoder", ["Read", "Training"]),
        "bare": ("encoder", ["Training"]),
        "intra": ("classifier", ["Classify", "Heads", "Training"]),
    }
    for name, run in found.items():
        assert open_run(runs / name).family == run["family"]


@pytest.mark.parametrize("run", [*RECURRENT, "bilm", "intra"])
def test_a_look_is_that_of_the_library(client: TestClient, runs: Path, run: str) -> None:
    answer = client.post("/api/look", json={"run": run, "text": TEXT, "importance": run == "lstm"})
    expected = look(open_run(runs / run), TEXT)
    expected.importance = {} if run == "lstm" else None
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))
    named = client.get(f"/api/runs/{run}").json()["layers"]
    assert [layer["name"] for layer in named] == [layer.name for layer in expected.layers]


@pytest.mark.parametrize(
    ("path", "run", "message"),
    [
        ("look", "bare", "without an encoder cannot be looked at yet"),
        ("way", "lstm", "has no blocks to follow a token through"),
        ("way", "bilm", "has no blocks to follow a token through"),
    ],
)
def test_what_they_cannot_do_is_refused_in_a_sentence(client: TestClient, path: str, run: str, message: str) -> None:
    answer = client.post(f"/api/{path}", json={"run": run, "text": TEXT})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
