"""Nobody can make the studio do more than it can: what is too large, too much or too long is turned away."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from regard.config import change
from regard.data.tokenizers import Tokenizer
from regard.look import Subject, look
from regard.models import ModelConfig
from regard.studio import use_routes
from regard.studio.app import make_app
from regard.studio.errors import RefusalError
from regard.studio.limits import Limits
from regard.studio.look_routes import check_size
from regard.studio.schemas import MAX_TEXT_LETTERS, MAX_TEXTS, MAX_TOKENS
from regard.studio.stopping import Stopper
from tests.helpers import built, decoder, encoder, encoder_decoder
from tests.studio.serving import Served, eventually, serving

SMALL = Limits(body=5000, seconds=30.0, workers=1, queue=2, numbers=100)


@pytest.fixture(scope="module")
def small(runs: Path) -> Iterator[TestClient]:
    with TestClient(make_app(runs, limits=SMALL), base_url="http://localhost") as client:
        yield client


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Translations wait for it, and stop when they are told to."""
    opened = threading.Event()

    def slow(studio: Any, stopper: Stopper, asked: Any) -> dict[str, Any]:
        while not opened.wait(0.01):
            stopper.check()
        return {"translations": [], "tree": None, "seconds": 0.0}

    monkeypatch.setattr(use_routes, "translate", slow)
    yield opened
    opened.set()


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_a_body_that_says_it_is_too_large_is_not_read(small: TestClient) -> None:
    answer = small.post("/api/translate", json={"run": "good", "text": "x" * 6000})
    assert (answer.status_code, answer.json()) == (413, {"error": "the body has more than 5,000 bytes"})


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off(runs: Path) -> None:
    with serving(make_app(runs, limits=SMALL)) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        connection.putrequest("POST", "/api/translate")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(b"1770\r\n" + b"x" * 6000 + b"\r\n")  # more could follow, and none is waited for
        answer = connection.getresponse()
        assert answer.status == 413
        connection.close()


def test_a_body_that_does_not_come_is_not_waited_for(runs: Path) -> None:
    with serving(make_app(runs, limits=Limits(seconds=0.3))) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        connection.putrequest("POST", "/api/translate")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b"{")
        answer = connection.getresponse()
        assert answer.status == 408
        connection.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("translate", {"text": "x" * (MAX_TEXT_LETTERS + 1)}),
        ("translate", {"texts": ["x"] * (MAX_TEXTS + 1)}),
        ("translate", {"texts": []}),
        ("translate", {"text": "un", "beam": 17}),
        ("translate", {"text": "un", "beam": 0}),
        ("translate", {"text": "un", "nbest": 5}),
        ("translate", {"text": "un", "texts": ["un"]}),
        ("translate", {"texts": ["un", "deux"], "tree": True}),
        ("translate", {}),
        ("translate", {"text": "un", "unheard_of": 1}),
        ("translate", {"text": 3}),
        ("translate", {"text": "un", "beam": "4"}),
        ("translate", {"text": "un", "length_penalty": 1e6}),
        ("generate", {"prompt": "a", "max_tokens": MAX_TOKENS + 1}),
        ("generate", {"prompt": "a", "temperature": -1}),
        ("generate", {"prompt": "a", "top_p": 0}),
        ("generate", {"prompt": "a" * 100, "run": "decoder"}),
        ("look", {"text": "un", "beam": 99}),
        ("look", {"text": "un", "layers": ["x"] * 600}),
        ("look", {"text": "un", "layers": ["nowhere"]}),
        ("look", {"text": "un", "without": ["9.9"]}),
        ("look", {"text": " "}),
        ("look", {"text": "un " * 3000}),
        ("way", {"text": "un", "place": 99}),
        ("way", {"text": "un", "place": 2**200}),
    ],
)
def test_what_is_not_allowed_is_said_in_one_sentence(client: TestClient, path: str, body: dict[str, Any]) -> None:
    answer = client.post(f"/api/{path}", json={"run": "good", **body})
    assert answer.status_code == 422, answer.text
    assert list(answer.json()) == ["error"]
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"run": "good", "text": "\\ud800"}',
        b'{"run": "\\udfff", "text": "a"}',
        b'{"run": "good", "text": "a", "\\ud800": 1}',
        b'{"run": "good", "text": "a", "length_penalty": NaN}',
        b'{"run": "good", "text": "a", "length_penalty": 1e999}',
        b'{"run": "good", "text": "a", "beam": ' + b"9" * 6000 + b"}",
        b'{"run": "good", "text": "a", "text": null}',
    ],
)
@pytest.mark.parametrize("path", ["translate", "generate", "look", "way"])
def test_no_body_is_too_odd_for_a_sentence(client: TestClient, path: str, content: bytes) -> None:
    answer = client.post(f"/api/{path}", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 404, 422)
    assert list(answer.json()) == ["error"]


def test_a_large_look_is_not_sent_as_json(small: TestClient) -> None:
    body = {"run": "good", "text": "un deux trois"}
    answer = small.post("/api/look", json=body)
    assert answer.status_code == 422
    assert "accept application/vnd.regard.look" in answer.json()["error"]
    assert small.post("/api/look", json=body, headers={"Accept": "application/vnd.regard.look"}).status_code == 200


def test_a_look_of_too_many_weights_is_refused_before_it_is_computed(runs: Path) -> None:
    with TestClient(make_app(runs, limits=Limits(weights=50)), base_url="http://localhost") as client:
        answer = client.post("/api/look", json={"run": "good", "text": "un deux trois"})
        assert answer.status_code == 422
        assert "take a shorter text or name layers" in answer.json()["error"]
        body = {"run": "good", "text": "un deux", "layers": ["encoder.*"]}
        assert client.post("/api/look", json=body).status_code == 200


def test_an_odd_address_is_a_json_error(client: TestClient) -> None:
    for path in ("/nothing", "/api", "/api/", "/static/nothing.js", "/static/../app.py", "/static/%2e%2e/html.py"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert list(answer.json()) == ["error"]
    answer = client.put("/api/runs")
    assert (answer.status_code, answer.json()) == (405, {"error": "/api/runs cannot be asked with PUT"})


# --- concurrent work --------------------------------------------------------------------------------------------------


def begin(served: Served, count: int) -> list[http.client.HTTPConnection]:
    return [served.post("/api/translate", {"run": "good", "text": "un"}) for _ in range(count)]


def test_beyond_the_queue_requests_are_turned_away_with_a_time_to_come_back(runs: Path, gate: threading.Event) -> None:
    with serving(make_app(runs, limits=Limits(workers=1, queue=2))) as served:
        taken = begin(served, 3)
        eventually(lambda: len(served.studio.bench.jobs) == 3)
        (late,) = begin(served, 1)
        answer = late.getresponse()
        assert answer.status == 429
        assert int(answer.headers["Retry-After"]) >= 1
        assert b"busy" in answer.read()
        late.request("GET", "/api/runs")  # what computes nothing is still answered
        assert late.getresponse().status == 200
        gate.set()
        assert [connection.getresponse().status for connection in taken] == [200] * 3
        (again,) = begin(served, 1)
        assert again.getresponse().status == 200
        for connection in (*taken, late, again):
            connection.close()


def test_work_that_takes_too_long_is_stopped(runs: Path, gate: threading.Event) -> None:
    with serving(make_app(runs, limits=Limits(seconds=1.0, workers=1, queue=1))) as served:
        first, waiting = begin(served, 2)
        statuses = sorted([first.getresponse().status, waiting.getresponse().status])
        assert statuses in ([429, 503], [503, 503])  # the second may have only waited
        eventually(lambda: not served.studio.bench.jobs)
        for connection in (first, waiting):
            connection.close()


def test_the_latest_few_models_stay_in_memory(runs: Path) -> None:
    with TestClient(make_app(runs, limits=Limits(models=2)), base_url="http://localhost") as client:
        shelf = client.app.state.studio.shelf  # type: ignore[attr-defined]
        for name in ("good", "decoder", "good", "encoder"):
            assert client.post("/api/look", json={"run": name, "text": "un"}).status_code == 200
        assert list(shelf.loaded) == ["good", "encoder"]


@pytest.mark.parametrize("config", [encoder(), decoder(), encoder_decoder()], ids=lambda config: config.kind)
def test_a_look_that_would_hold_more_weights_than_the_limit_is_refused_before_it_is_made(config: ModelConfig) -> None:
    """About so many: special tokens are not counted one by one."""
    tokenizer = Tokenizer.train(["abcdefghijklmnop qrstuvwxyz"] * 2, "char")
    subject = Subject(built(change(config, {"vocabulary": tokenizer.vocabulary})), tokenizer)
    target = "fgh" if config.kind == "encoder-decoder" else None
    seen = look(subject, "abc de", target)
    held = sum(seen.arrays[layer.name].size for layer in seen.layers)
    with pytest.raises(RefusalError, match="weights are more than"):
        check_size(subject, "abc de", target, (), held // 2)
    check_size(subject, "abc de", target, (), 2 * held)
