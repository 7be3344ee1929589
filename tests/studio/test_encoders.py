"""Runs of encoders in the studio: what they read is listed; pairs and masked words are those of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from regard.look import look, open_run
from regard.studio.app import make_app
from tests.untrained import PAIR, TEXT, write_classifier, write_reader

TASKS = ("pair", "mlm", "answer", "classify")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("encoders") / "runs"
    for task in TASKS:
        write_reader(folder / task, task)
    write_classifier(folder / "han", "han-2016")
    return folder


@pytest.fixture(scope="module")
def client(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs), base_url="http://localhost") as client:
        yield client


def test_each_says_which_views_it_has_and_what_texts_they_take(client: TestClient) -> None:
    names = [run["name"] for run in client.get("/api/runs").json()["runs"]]
    runs = {name: client.get(f"/api/runs/{name}").json() for name in names}
    views = {name: {view["name"]: view for view in run["views"]} for name, run in runs.items()}
    assert {name: (runs[name]["family"], list(own)) for name, own in views.items()} == {
        "pair": ("classifier", ["translate", "heads", "training"]),
        "mlm": ("encoder", ["translate", "heads", "way", "training"]),
        "answer": ("encoder", ["translate", "heads", "training"]),
        "classify": ("classifier", ["translate", "heads", "training"]),
        "han": ("classifier", ["translate", "training"]),
    }
    assert {name: (own["translate"]["title"], own["translate"]["draws"]) for name, own in views.items()} == {
        "pair": ("Judge a pair", "texts"),
        "mlm": ("Read", "texts"),
        "answer": ("Read", "texts"),
        "classify": ("Classify", "texts"),
        "han": ("Classify", "texts"),
    }
    takes = {
        name: [(one["field"], one["name"], one["needed"]) for one in own["translate"]["takes"]]
        for name, own in views.items()
    }
    assert takes == {
        "pair": [("text", "first text", True), ("second", "second text", True)],
        "mlm": [("text", "text", True), ("second", "second text", False)],
        "answer": [("text", "question", True), ("second", "text", True)],
        "classify": [("text", "text", True)],
        "han": [("text", "text", True)],
    }
    for task in TASKS:
        layers = client.get(f"/api/runs/{task}").json()["layers"]
        assert [layer["name"] for layer in layers] == ["encoder.0.self", "encoder.1.self"]


@pytest.mark.parametrize(
    ("run", "options"),
    [
        ("pair", {"second": PAIR[1]}),
        ("answer", {"second": TEXT}),
        ("mlm", {"second": PAIR[1], "mask": [1, 5]}),
        ("mlm", {"mask": [0], "best": 2, "without": ["1.1"]}),
        ("classify", {"without": ["0.0"]}),
    ],
)
def test_a_look_is_that_of_the_library(client: TestClient, runs: Path, run: str, options: dict[str, Any]) -> None:
    answer = client.post("/api/look", json={"run": run, "text": PAIR[0], **options})
    expected = look(open_run(runs / run), PAIR[0], **options)
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        ("classify", {"second": PAIR[1]}, "reads one text at a time"),
        ("pair", {}, "give the second too"),
        ("mlm", {"mask": [99]}, "no word 99 to mask"),
        ("mlm", {"mask": [-1]}, "mask"),
        ("han", {"mask": [0]}, "finds no masked words"),
    ],
)
def test_what_they_cannot_do_is_refused_in_a_sentence(
    client: TestClient, run: str, options: dict[str, Any], message: str
) -> None:
    answer = client.post("/api/look", json={"run": run, "text": PAIR[0], **options})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
