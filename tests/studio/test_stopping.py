"""Nobody works for someone who has left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regard.studio import use_routes
from regard.studio.app import make_app
from regard.studio.limits import Limits
from regard.studio.shelf import load
from regard.studio.stopping import StoppedError, Stopper
from tests.studio.serving import eventually, serving
from tests.toy import sentences

ONE = Limits(workers=1, queue=4)


def test_decoding_stops_between_two_layers_and_leaves_nothing_behind(runs: Path) -> None:
    translator = load(runs / "good").translator
    assert translator is not None
    texts = sentences(20, seed=3)
    before = translator(texts)
    stopper = Stopper(60)
    asked = 0

    def check(*_: Any) -> None:
        nonlocal asked
        asked += 1
        if asked == 7:
            stopper.stop()
        Stopper.check(stopper)

    stopper.check = check  # type: ignore[method-assign]
    with stopper.on(translator.model), pytest.raises(StoppedError):
        translator(texts)
    assert asked == 7
    assert translator(texts) == before


def test_asking_whether_to_go_on_changes_no_translation(runs: Path) -> None:
    translator = load(runs / "poor").translator
    assert translator is not None
    texts = sentences(20, seed=4)
    before = translator(texts)
    with Stopper(60).on(translator.model):
        assert translator(texts) == before


def test_time_is_up_after_so_many_seconds(runs: Path) -> None:
    subject = load(runs / "decoder").subject
    stopper = Stopper(0.0)
    with pytest.raises(StoppedError), stopper.on(subject.model):
        stopper.check()
    assert stopper.left == 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What translations did: they go on for ever, unless they are stopped."""
    told: list[str] = []

    def endless(studio: Any, stopper: Stopper, asked: Any) -> None:
        told.append(f"began {asked.text}")
        try:
            while True:
                threading.Event().wait(0.01)
                stopper.check()
        finally:
            told.append(f"ended {asked.text}")

    monkeypatch.setattr(use_routes, "translate", endless)
    return told


def test_a_request_that_is_cut_off_frees_its_place(runs: Path, work: list[str]) -> None:
    with serving(make_app(runs, limits=ONE)) as served:
        first = served.post("/api/translate", {"run": "good", "text": "one"})
        eventually(lambda: work == ["began one"])
        second = served.post("/api/translate", {"run": "good", "text": "two"})
        third = served.post("/api/translate", {"run": "good", "text": "three"})
        eventually(lambda: len(served.studio.bench.jobs) == 3)
        second.close()  # while it waits: it never begins
        eventually(lambda: len(served.studio.bench.jobs) == 2)
        first.close()
        eventually(lambda: work == ["began one", "ended one", "began three"])
        third.close()
        eventually(lambda: not served.studio.bench.jobs)
        assert work[-1] == "ended three"


def test_a_stream_that_is_cut_off_stops_between_two_tokens(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0
    real = use_routes.generate

    def counted(*given: Any) -> Iterator[Any]:
        nonlocal written
        for line in real(*given):
            threading.Event().wait(0.02)
            written += 1
            yield line

    monkeypatch.setattr(use_routes, "generate", counted)
    with serving(make_app(runs, limits=ONE)) as served:
        connection = served.post("/api/generate", {"run": "decoder", "prompt": "a", "max_tokens": 60, "temperature": 0})
        answer = connection.getresponse()
        assert answer.status == 200
        answer.readline()
        answer.readline()
        answer.close()
        connection.close()
        eventually(lambda: not served.studio.bench.jobs)
        assert 2 <= written < 40


def test_a_server_that_ends_ends_its_work(runs: Path, work: list[str]) -> None:
    with serving(make_app(runs, limits=ONE)) as served:
        connection = served.post("/api/translate", {"run": "good", "text": "one"})
        eventually(lambda: work == ["began one"])
        served.studio.bench.close()
        eventually(lambda: work == ["began one", "ended one"])
        connection.close()
