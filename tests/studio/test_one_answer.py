"""A text has one translation, wherever it is asked for: from Python, on the command line, in a look, over HTTP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import regard as library
from regard.decoding import Decoding
from regard.look import look, open_run
from regard.studio.app import make_app
from regard.tasks.writing.translator import Translator
from tests.conftest import Say
from tests.toy import LONGEST, WORDS, Toy, sentences
from tests.untrained import write_translator

TEXTS = [
    *sentences(6, seed=11),
    "un",
    "un deux\n\ntrois",
    "un deux\n",
    " ".join(WORDS[i % 6] for i in range(2 * LONGEST)),
    "quatre. cinq six un. deux trois.",
]
RUNS = ("good", "poor", "silent", "wavering")


@pytest.fixture(scope="module")
def home(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one") / "runs"
    shutil.copytree(toy.good, folder / "good")
    shutil.copytree(toy.poor, folder / "poor")
    write_translator(folder / "silent", toy.good, 9.0)
    write_translator(folder / "wavering", toy.good, 1.0)
    return folder


@pytest.fixture(scope="module")
def client(home: Path) -> Iterator[TestClient]:
    with TestClient(make_app(home), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", RUNS)
def test_a_text_has_one_translation_everywhere(
    home: Path, client: TestClient, regard: Say, name: str, text: str
) -> None:
    translator = library.load(home / name)
    assert isinstance(translator, Translator)
    said = translator(text)
    assert regard("translate", home / name, text)[1] == f"{' '.join(said.splitlines())}\n"
    assert translator.look(text).written.text == said
    assert look(open_run(home / name), text).written.text == said
    assert json.loads(regard("look", home / name, text, "--json")[1])["sides"]["target"]["text"] == said
    shown = client.post("/api/look", json={"run": name, "text": text, "best": 5, "beam": 4}).json()
    found = client.post("/api/translate", json={"run": name, "text": text, "beam": 4, "tree": True}).json()
    (translation,) = found["translations"]
    assert shown["sides"]["target"]["text"] == translation["best"][0]["text"] == said
    whole = translation["parts"] == 1
    assert (found["tree"] is not None) == whole
    if whole:
        best = translator.translate([text], Decoding(beam=4, nbest=4))[0]
        assert [one["text"] for one in found["tree"]["hypotheses"]] == [one.text.strip("\n") for one in best]
        assert [one["score"] for one in found["tree"]["hypotheses"]] == pytest.approx([one.score for one in best])


def test_some_of_these_runs_say_nothing(home: Path) -> None:
    silent, wavering = (library.load(home / name) for name in ("silent", "wavering"))
    assert silent(TEXTS[:6]) == [""] * 6
    assert len({wavering(text) for text in TEXTS}) > 1


def test_what_is_shown_of_an_empty_translation_is_how_likely_it_ends(home: Path) -> None:
    seen = look(open_run(home / "silent"), "un deux")
    assert (seen.written.tokens, seen.written.words) == (["<s>"], [])
    (only,) = seen.predictions
    assert (only.token, only.rank) == ("</s>", 1)
    assert seen.alignment is not None
    assert seen.alignment.links == []
    same = look(open_run(home / "silent"), "un deux", "")
    assert same.predictions == seen.predictions
    assert type(seen).from_bytes(seen.to_bytes()).written.text == ""


def test_heads_that_are_silent_change_the_same_search(home: Path) -> None:
    subject = open_run(home / "poor")
    for text in TEXTS[:6]:
        seen = look(subject, text, without=["decoder.0.cross.0"])
        assert seen.changes is not None
        assert seen.changes.before == library.load(home / "poor")(text)
