"""Looks through the API are those of the library, in both forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from regard.look import Look, look, open_run, way
from regard.look.importance import importance
from regard.look.positions import picture, schemes
from regard.look.records import MEDIA_TYPE, PositionPicture, Way

BINARY = {"Accept": MEDIA_TYPE}
TEXTS = {"good": "un deux trois", "poor": "un deux trois", "decoder": "Hello", "encoder": "Hello", "recurrent": "Hello"}


def plain(record: Any) -> Any:
    """As JSON has it: lists for tuples."""
    return json.loads(json.dumps(record.to_dict()))


@pytest.mark.parametrize("run", TEXTS)
def test_a_look_is_that_of_the_library(client: TestClient, runs: Path, run: str) -> None:
    body = {"run": run, "text": TEXTS[run], "best": 3}
    expected = look(open_run(runs / run), TEXTS[run], best=3)
    assert client.post("/api/look", json=body).json() == plain(expected)
    answer = client.post("/api/look", json=body, headers=BINARY)
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.content == expected.to_bytes()
    assert plain(Look.from_bytes(answer.content)).keys() == plain(expected).keys()


def test_a_look_tells_the_window_of_local_attention(client: TestClient) -> None:
    found = {run: client.post("/api/look", json={"run": run, "text": text}).json() for run, text in TEXTS.items()}
    local = found.pop("recurrent")
    (window,) = local["windows"].values()
    assert window["reach"] == 3
    assert len(window["centres"]) == len(local["sides"]["target"]["tokens"])
    assert all(0 <= centre <= len("Hello") for centre in window["centres"])
    assert not any(one["windows"] for one in found.values())


@pytest.mark.parametrize(
    "options",
    [
        {"target": "three two"},
        {"without": ["decoder.0.cross.1"]},
        {"without": ["0.0"], "target": "one two three"},
        {"layers": ["decoder.*"]},
        {"beam": 1, "best": 0},
    ],
)
def test_the_options_of_a_look_are_those_of_the_library(
    client: TestClient, runs: Path, options: dict[str, Any]
) -> None:
    answer = client.post("/api/look", json={"run": "poor", "text": "un deux trois", **options})
    assert answer.json() == plain(look(open_run(runs / "poor"), "un deux trois", **options))


def test_the_importance_of_heads_is_that_of_the_library(client: TestClient, runs: Path) -> None:
    subject = open_run(runs / "poor")
    answer = client.post("/api/look", json={"run": "poor", "text": "un deux trois", "importance": True}).json()
    assert answer["importance"] == importance(subject, look(subject, "un deux trois"))
    assert answer["importance"].keys() == {layer["name"] for layer in answer["layers"]}
    refused = client.post("/api/look", json={"run": "encoder", "text": "Hello", "importance": True})
    assert refused.status_code == 422


def test_a_model_without_attention_shows_how_sure_it_is(client: TestClient) -> None:
    seen = client.post("/api/look", json={"run": "inattentive", "text": "Hello", "target": "Hi"}).json()
    assert seen["layers"] == []
    assert len(seen["predictions"]) == len("Hi") + 1
    way = client.post("/api/way", json={"run": "inattentive", "text": "Hello", "target": "Hi"}).json()
    told = ["tokens", "embedding", "encoded", "tokens", "embedding", "state", "cell", "output", "logits"]
    assert [stage["stage"] for stage in way["stages"]] == told
    attending = client.post("/api/way", json={"run": "recurrent", "text": "Hello"}).json()
    assert "looked" in [stage["stage"] for stage in attending["stages"]]
    assert client.get("/api/runs/inattentive").json()["layers"] == []


@pytest.mark.parametrize("run", ["good", "decoder", "encoder"])
def test_a_way_is_that_of_the_library(client: TestClient, runs: Path, run: str) -> None:
    body = {"run": run, "text": TEXTS[run], "place": 1}
    expected = way(open_run(runs / run), TEXTS[run], place=1)
    assert client.post("/api/way", json=body).json() == plain(expected)
    answer = client.post("/api/way", json=body, headers=BINARY)
    assert plain(Way.from_bytes(answer.content)) == plain(expected)


def test_every_scheme_of_positions_is_named_and_drawn(client: TestClient) -> None:
    kinds = client.get("/api/positions").json()["kinds"]
    assert [one["kind"] for one in kinds] == list(schemes())
    for one in kinds:
        path = f"/api/positions/{one['kind']}?length=12&width=8&heads=2"
        expected = picture(one["kind"], 12, 8, 2)
        assert client.get(path).json() == plain(expected)
        assert plain(PositionPicture.from_bytes(client.get(path, headers=BINARY).content)) == plain(expected)
        assert (one["about"], one["learnt"]) == (expected.about, expected.learnt)


@pytest.mark.parametrize(
    ("path", "status"),
    [("rotory", 404), ("rotary?length=0", 422), ("rotary?length=513", 422), ("rotary?width=x", 422)],
)
def test_what_cannot_be_drawn_says_why(client: TestClient, path: str, status: int) -> None:
    answer = client.get(f"/api/positions/{path}")
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


@pytest.mark.parametrize("width", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("heads", [1, 3, 32])
def test_no_width_breaks_a_picture(client: TestClient, width: int, heads: int) -> None:
    for kind in schemes():
        answer = client.get(f"/api/positions/{kind}?length=5&width={width}&heads={heads}")
        assert answer.status_code in (200, 422), answer.text
