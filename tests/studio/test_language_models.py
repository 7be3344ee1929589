"""Language models of every make in the studio: listed as such, looked at, and writing on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.models import LSTMN, RecurrentDecoder
from regard.nn.positions import Rotary
from regard.studio.app import make_app
from tests.helpers import decoder
from tests.studio.conftest import write_untrained

MODELS = {
    "lstmn": LSTMN(vocabulary=9, width=16, hidden=12, layers=2),
    "lstm": RecurrentDecoder(vocabulary=9, width=16, hidden=12),
}
LAYERS = {"lstmn": ["decoder.0.self", "decoder.1.self"], "lstm": []}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("writers")
    for name, config in MODELS.items():
        write_untrained(folder / name, config)
    with TestClient(make_app(folder), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize("name", MODELS)
def test_it_is_listed_looked_at_and_writes_on(served: TestClient, name: str) -> None:
    run = served.get(f"/api/runs/{name}").json()
    assert run["family"] == "decoder"
    assert (run["views"][0]["title"], run["views"][0]["draws"]) == ("Generate", "prompt")
    seen = served.post("/api/look", json={"run": name, "text": "abc de"}).json()
    assert [layer["name"] for layer in seen["layers"]] == LAYERS[name]
    assert len(seen["predictions"]) == len("abc de") + 1
    assert seen["family"] == "decoder"
    asked = {"run": name, "prompt": "abc", "max_tokens": 8, "seed": 3}
    one, other = (served.post("/api/generate", json=asked).text for _ in range(2))
    assert one == other
    assert json.loads(one.splitlines()[-1])["done"]


def test_a_way_through_blocks_that_are_not_there_is_refused_in_a_sentence(served: TestClient) -> None:
    answer = served.post("/api/way", json={"run": "lstmn", "text": "abc"})
    assert answer.status_code == 422
    assert "has no blocks to follow a token through" in answer.json()["error"]


def test_a_prompt_that_is_longer_than_what_was_learnt_is_refused(tmp_path: Path) -> None:
    """Also of a model that could read on without end: it would write as nothing in its training did."""
    write_untrained(tmp_path / "rotary", decoder(position=Rotary()))
    config = json.loads((tmp_path / "rotary" / "config.json").read_text())
    config["task"] = {"kind": "lm", "train": {"file": "a.txt"}, "valid": {"file": "b.txt"}, "context": 16}
    (tmp_path / "rotary" / "config.json").write_text(json.dumps(config))
    with TestClient(make_app(tmp_path), base_url="http://localhost") as client:
        body = {"run": "rotary", "max_tokens": 50, "temperature": 0}
        long = client.post("/api/generate", json={**body, "prompt": "a" * 17})
        assert (long.status_code, "17 tokens" in long.json()["error"]) == (422, True)
        full = json.loads(client.post("/api/generate", json={**body, "prompt": "a" * 9}).text.splitlines()[-1])
        assert full["reason"] in ("full", "end")
