"""Runs of recurrent taggers and biLMs in the studio: listed by what they have to show, and looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.config import kinds
from regard.look import look, open_run
from regard.models import ModelConfig, TextReaderConfig
from regard.studio.app import make_app
from regard.studio.runs import ENCODERS, INATTENTIVE, READERS
from tests.untrained import RECURRENT, TEXT, write_every_recurrent


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_every_recurrent(tmp_path_factory.mktemp("recurrent") / "runs")


@pytest.fixture(scope="module")
def client(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs), base_url="http://localhost") as client:
        yield client


def test_every_reader_and_whether_it_attends_is_known_without_torch() -> None:
    readers = {kind: one for kind, one in kinds(ModelConfig).items() if issubclass(one, TextReaderConfig)}
    assert set(readers) == set(READERS)
    silent = {
        kind
        for kind, one in readers.items()
        if not one(vocabulary=9, width=64).build().attention_names()  # type: ignore[call-arg]
    }
    assert silent == set(INATTENTIVE)
    assert set(ENCODERS) <= set(READERS)


def test_they_are_listed_with_what_they_have_to_show(client: TestClient, runs: Path) -> None:
    listed = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    assert {name: (run["family"], run["texts"], run["heads"]) for name, run in listed.items()} == {
        "lstm": ("encoder", ["text"], False),
        "elmo": ("encoder", ["text"], False),
        "lstmn": ("encoder", ["text"], True),
        "bilm": ("encoder", ["text"], False),
        "bare": ("encoder", ["text"], False),
        "intra": ("classifier", ["text"], True),
    }
    for name, run in listed.items():
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
