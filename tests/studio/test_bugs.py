"""What the library refuses is the client's mistake; any other exception is the studio's, and its log says where."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import regard
from regard.studio import use_routes
from regard.studio.app import make_app


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (regard.Error("a beam of three is too wide"), 422, "a beam of three is too wide"),
        (ValueError("zip() argument 2 is shorter"), 500, "the studio made a mistake (ValueError); its log says where"),
        (KeyError("x"), 500, "the studio made a mistake (KeyError); its log says where"),
    ],
)
def test_a_bug_is_a_500_and_a_clients_mistake_a_422(
    runs: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, told: str
) -> None:
    def broken(*_: object) -> dict[str, Any]:
        raise error

    monkeypatch.setattr(use_routes, "translate", broken)
    with TestClient(make_app(runs), base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.post("/api/translate", json={"run": "good", "text": "un"})
    assert (answer.status_code, answer.json()) == (status, {"error": told})


def test_a_bug_in_the_midst_of_a_stream_is_its_last_line(
    runs: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Any:
        yield {"token": "a"}
        time.sleep(0.3)  # the first line is under way; before that, the whole answer would be a 500
        raise ValueError("zip() argument 2 is shorter")

    monkeypatch.setattr(use_routes, "generate", broken)
    with (
        caplog.at_level(logging.ERROR),
        TestClient(make_app(runs), base_url="http://localhost", raise_server_exceptions=False) as client,
    ):
        answer = client.post("/api/generate", json={"run": "decoder", "prompt": "a"})
    first, last = map(json.loads, answer.text.splitlines())
    assert first == {"token": "a"}
    assert last == {"error": "the studio made a mistake (ValueError); its log says where"}
