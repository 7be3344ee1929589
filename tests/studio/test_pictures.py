"""A run that reads pictures, over HTTP: pictures come as base64, are bounded, and never name a file of the server."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

import regard
from regard.look import Look
from regard.look.records import MEDIA_TYPE
from regard.studio.app import make_app
from regard.studio.limits import Limits
from tests.paintings import painting, write_captioner, write_painted

image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("painted")
    write_captioner(folder / "captions")
    return write_painted(folder / "colours").parent


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(make_app(folder, limits=Limits(pixels=5_000)), base_url="http://localhost") as client:
        yield client


def encoded(colour: str = "red", side: int = 20, form: str = "PNG") -> str:
    data = io.BytesIO()
    image.fromarray(painting(colour, 3, side, side)).save(data, format=form)
    return base64.b64encode(data.getvalue()).decode()


def asked(client: TestClient, **body: Any) -> tuple[int, Any]:
    answer = client.post("/api/look", json={"run": "colours", **body})
    return answer.status_code, answer.json()


def test_a_picture_is_looked_at(client: TestClient, folder: Path) -> None:
    status, found = asked(client, picture=encoded())
    own = regard.load(folder / "colours").look(painting("red", 3, 20, 20))
    assert status == 200
    assert found["grid"] == {"side": "picture", "rows": 4, "columns": 4, "own": 1}
    assert [one["label"] for one in found["verdicts"]] == [one.label for one in own.verdicts]
    np.testing.assert_allclose(found["arrays"]["shares"], own.arrays["shares"], atol=1e-6)
    answer = client.post("/api/look", json={"run": "colours", "picture": encoded()}, headers={"Accept": MEDIA_TYPE})
    np.testing.assert_array_equal(Look.from_bytes(answer.content).arrays["picture"], own.arrays["picture"])


def test_a_run_says_that_it_takes_pictures(client: TestClient) -> None:
    (view, *others) = client.get("/api/runs/colours").json()["views"]
    assert (view["draws"], [one["field"] for one in view["takes"]]) == ("picture", ["picture"])
    assert all(other["draws"] in ("training", "playback") for other in others)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"text": "a sentence"}, "reads pictures, not texts"),
        ({"picture": encoded(), "text": "a sentence"}, "reads pictures, not texts"),
        ({}, "reads pictures, not texts"),
        ({"picture": "$$$"}, "picture: it is not base64"),
        ({"picture": base64.b64encode(b"/etc/passwd").decode()}, "is no picture that can be read"),
        ({"picture": encoded(side=80)}, "at most 5,000 are read"),
        ({"picture": encoded(form="JPEG")[:200]}, "damaged"),
        ({"picture": ""}, "at least 1 character"),
    ],
)
def test_what_is_no_picture_is_one_sentence(client: TestClient, body: dict[str, Any], message: str) -> None:
    status, found = asked(client, **body)
    assert status == 422
    assert message in found["error"]


def test_a_run_of_texts_is_given_no_picture(runs: Path) -> None:
    with TestClient(make_app(runs), base_url="http://localhost") as client:
        answer = client.post("/api/look", json={"run": "good", "picture": encoded()})
        assert (answer.status_code, answer.json()["error"]) == (422, "good reads no pictures; send it a text")


def test_a_caption_is_written_or_looked_at_as_it_is_given(client: TestClient, folder: Path) -> None:
    own = regard.load(folder / "captions")
    written, given = (
        client.post("/api/look", json={"run": "captions", "picture": encoded(), **more}).json()
        for more in ({}, {"target": "a red thing"})
    )
    assert written["sides"]["target"]["text"] == own(painting("red", 3, 20, 20), beam=4)
    assert given["sides"]["target"]["words"] == ["a", "red", "thing"]
    assert given["grid"]["side"] == "picture"
    (view, *_) = client.get("/api/runs/captions").json()["views"]
    assert (view["title"], [one["field"] for one in view["takes"]]) == ("Caption", ["picture", "target"])
