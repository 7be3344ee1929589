"""Runs of encoders in the studio: what they read is listed; pairs and masked words are those of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from regard.config import kinds
from regard.look import look, open_run
from regard.models import Encoder, ModelConfig
from regard.studio.app import make_app
from regard.studio.runs import ENCODERS
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


def test_every_kind_of_encoder_is_known_without_torch() -> None:
    assert {kind for kind, config in kinds(ModelConfig).items() if issubclass(config, Encoder)} == set(ENCODERS)


def test_what_they_read_is_listed(client: TestClient) -> None:
    runs = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    assert {name: (run["family"], run["texts"], run["least"], run["heads"]) for name, run in runs.items()} == {
        "pair": ("classifier", ["first text", "second text"], 2, True),
        "mlm": ("encoder", ["text", "second text"], 1, True),
        "answer": ("encoder", ["question", "text"], 2, True),
        "classify": ("classifier", ["text"], 1, True),
        "han": ("classifier", ["text"], 1, False),
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
