"""Runs of classifiers in the studio: listed, described and looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.studio.app import make_app
from tests.untrained import TEXT, write_classifier


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("classifiers") / "runs"
    write_classifier(folder / "flat", "classifier")
    write_classifier(folder / "layered", "han-2016")
    write_classifier(folder / "inattentive", "classifier", pool="mean")
    with TestClient(make_app(folder), base_url="http://localhost") as client:
        yield client


def test_they_are_listed_as_classifiers(client: TestClient) -> None:
    names = [run["name"] for run in client.get("/api/runs").json()["runs"]]
    runs = [client.get(f"/api/runs/{name}").json() for name in names]
    assert {(run["name"], run["family"], run["task"]) for run in runs} == {
        (name, "classifier", "classify") for name in ("flat", "layered", "inattentive")
    }


def test_their_layers_are_described(client: TestClient) -> None:
    layers = client.get("/api/runs/layered").json()["layers"]
    assert [(layer["name"], layer["rows"], layer["columns"]) for layer in layers] == [
        ("pool.0.words", "sentences", "text"),
        ("pool.1.sentences", "label", "sentences"),
    ]


@pytest.mark.parametrize("run", ["flat", "layered", "inattentive"])
def test_a_look_has_their_verdict(client: TestClient, run: str) -> None:
    answer = client.post("/api/look", json={"run": run, "text": TEXT}, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    look = answer.json()
    assert look["family"] == "classifier"
    assert sum(one["probability"] for one in look["verdicts"]) == pytest.approx(1, abs=1e-5)
    assert ("pool.0.words" in look["arrays"]) == (run != "inattentive")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("translate", {"text": TEXT}),
        ("generate", {"prompt": TEXT}),
        ("way", {"text": TEXT}),
        ("look", {"text": TEXT, "importance": True}),
        ("look", {"text": TEXT, "target": "no"}),
    ],
)
def test_what_they_cannot_do_is_refused_in_a_sentence(client: TestClient, path: str, body: dict[str, object]) -> None:
    answer = client.post(f"/api/{path}", json={"run": "layered", **body})
    text = answer.text
    assert answer.status_code in (409, 422) or (path == "generate" and '"error"' in text)
    assert "error" in text
    assert "Traceback" not in text
