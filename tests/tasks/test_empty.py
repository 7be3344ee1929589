"""What is empty stays empty, from Python as from the command line; what is no text is named with its place."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard as library
from regard.decoding import Decoding
from regard.errors import DataError
from regard.runfolder import Scale
from regard.tasks.writing.translator import Translator
from tests.conftest import Say
from tests.toy import LONGEST, Toy
from tests.untrained import TEXT, write_classifier, write_reader, write_recurrent
from tests.writers import write_writer

BLANK = ["", "   ", "\n", "\t \r\n", "\u00a0", "\ufeff \u200b\n"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    write_classifier(folder / "classify", "classifier")
    write_reader(folder / "tag", "tag")
    write_reader(folder / "answer", "answer", labels=("first", "last"))
    write_reader(folder / "pair", "pair")
    write_reader(folder / "score", "pair", labels=("score",))
    Scale(1.0, 5.0).write(folder / "score")
    write_reader(folder / "mlm", "mlm")
    write_writer(folder / "lm")
    return folder


@pytest.fixture(scope="module")
def translator(toy: Toy) -> Translator:
    found = library.load(toy.good)
    assert isinstance(found, Translator)
    return found


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(f"{one}\n" for one in lines).encode())))


# --- translations -----------------------------------------------------------------------------------------------------


def test_the_translation_of_nothing_is_nothing(translator: Translator) -> None:
    assert translator([*BLANK, "un deux"]) == [*("" for _ in BLANK), "one two"]
    assert [translator(text) for text in BLANK] == ["" for _ in BLANK]
    (first, second), _ = translator.translate(["", "un"], Decoding(beam=2, nbest=2))
    assert first == second
    assert (first.text, first.score, first.log_prob, first.parts) == ("", 0.0, 0.0, ())


def test_the_command_line_leaves_empty_lines_and_their_columns(
    regard: Say, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "un", "", "  ", "deux")
    assert regard("translate", toy.good)[1].splitlines() == ["one", "", "", "two"]
    typed(monkeypatch, "un", "")
    rows = [line.split("\t") for line in regard("translate", toy.good, "--scores", "--align")[1].splitlines()]
    assert [row[1:] for row in rows] == [["one", "0-0"], ["", ""]]
    assert rows[1][0] == ""
    assert regard("translate", toy.good, "", "un")[1] == "\none\n"


@pytest.mark.parametrize("text", ["un deux\ntrois", "un\r\n\r\n  \ndeux\n", "\n\nun\u2028deux", "un deux\n"])
def test_the_breaks_between_lines_come_back(translator: Translator, text: str) -> None:
    found = translator(text)
    assert [line.strip() for line in found.splitlines()] == [translator(line) for line in text.splitlines()]
    assert re.findall(r"\r\n|[\n\u2028]", found) == re.findall(r"\r\n|[\n\u2028]", text)


def test_a_long_line_among_others_is_split_by_itself(translator: Translator) -> None:
    long = " ".join(["un deux trois"] * LONGEST)
    said: list[str] = []
    ((found,),) = translator.translate([f"un\n{long}\ndeux"], Decoding(beam=4), say=said.append)
    assert found.text.split("\n") == ["one", translator(long), "two"]
    assert len(said) == 1


def test_several_lines_have_no_list_of_best_translations(translator: Translator) -> None:
    with pytest.raises(DataError, match="no 2 best translations; ask for one"):
        translator.translate(["un\ndeux"], Decoding(beam=2, nbest=2))
    assert len(translator.translate(["un\n"], Decoding(beam=2, nbest=2))[0]) == 2


# --- labels, tags, answers, words, vectors ----------------------------------------------------------------------------


@pytest.mark.parametrize("blank", BLANK)
def test_nothing_has_no_label(home: Path, blank: str) -> None:
    classifier = library.load(home / "classify")
    label = classifier("The film is long.")
    assert classifier(["The film is long.", blank]) == [label, ""]
    assert (classifier(blank), classifier.scores(blank)) == ("", {})
    assert classifier.scores([blank, "The film is long."])[1] == classifier.scores("The film is long.")
    with pytest.raises(DataError, match="text 2 is empty"):
        classifier.probabilities(["a", blank])


@pytest.mark.parametrize("blank", BLANK)
def test_nothing_has_no_tags_no_answer_and_no_masks(home: Path, blank: str) -> None:
    tagger, answerer, filler = (library.load(home / name) for name in ("tag", "answer", "mlm"))
    assert tagger(["A dog runs.", blank]) == [tagger("A dog runs."), []]
    answer = answerer(blank, TEXT)
    assert (answer.text, answer.start, answer.end, answer.score) == ("", 0, 0, 0.0)
    first, second = answerer.results([("Who runs?", TEXT), (blank, TEXT)], threshold=-100.0)
    assert (first, second) == (answerer("Who runs?", TEXT, -100.0), answer)
    with pytest.raises(DataError, match="the text of question 2 is empty"):
        answerer.results([("Who?", TEXT), ("Who?", blank)])
    found = filler(blank)
    assert (found.text, found.whole, found.masks) == (blank, blank, [])
    both = filler.results([blank, "A [MASK] runs."])
    assert [len(one.masks) for one in both] == [0, 1]


@pytest.mark.parametrize("blank", BLANK)
def test_two_empty_texts_have_no_label_and_no_score_and_one_alone_is_a_mistake(home: Path, blank: str) -> None:
    judge, scorer = library.load(home / "pair"), library.load(home / "score")
    assert judge(blank, blank) == ""
    assert math.isnan(scorer(blank, blank))
    for pair in ((blank, "A dog."), ("A dog.", blank)):
        with pytest.raises(DataError, match="pair 1: one of the two texts is empty"):
            judge(*pair)
    with pytest.raises(DataError, match="pair 2: both texts are empty"):
        judge.judge([("a", "b"), (blank, blank)])


def test_nothing_has_no_vector(home: Path) -> None:
    embedder = library.load(home / "mlm").embedder()
    with pytest.raises(DataError, match="text 2 is empty, so it has no vector: take it out or give it words"):
        embedder(["A dog.", " "])


def test_an_empty_prompt_begins_from_nothing(home: Path) -> None:
    assert library.load(home / "lm")("", tokens=5, seed=1)


def test_the_command_line_says_the_same_of_an_empty_line_and_of_an_empty_text(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    asked: dict[str, list[object]] = {
        "classify": [home / "classify"],
        "tag": [home / "tag"],
        "answer": [home / "answer", "--text", tmp_path / "text.txt"],
        "fill": [home / "mlm"],
        "similar": [home / "mlm", "--lines", tmp_path / "text.txt"],
    }
    for verb, words in asked.items():
        for more in ([], ["--json"]):
            typed(monkeypatch, "  ")
            line = regard(verb, *words, *more)
            assert (line[0], verb, regard(verb, *words, *more, "  ")[:2]) == (0, verb, line[:2])
            assert line[1] == "\n" or more
    record = json.loads(regard("answer", *asked["answer"], "--json", "")[1])
    assert record == {"question": "", "text": "", "start": 0, "end": 0, "score": 0.0}
    assert regard("pair", home / "pair", " ", "")[:2] == (0, "\n")


# --- what is no text --------------------------------------------------------------------------------------------------


Calls = dict[str, Callable[[Any], Any]]


def calls(home: Path, toy: Toy) -> Calls:
    translator, classifier, tagger = library.load(toy.good), library.load(home / "classify"), library.load(home / "tag")
    filler = library.load(home / "mlm")
    return {
        "translate": translator,
        "classify": classifier,
        "scores": classifier.scores,
        "tag": tagger,
        "fill": filler.results,
        "embed": filler.embedder(),
    }


@pytest.mark.parametrize(
    ("cell", "shown"), [(None, "None"), (3, "3"), (math.nan, "nan"), (b"abc", "b'abc'"), (["a"], r"\['a'\]")]
)
def test_what_is_no_text_is_named_with_its_place(home: Path, toy: Toy, cell: Any, shown: str) -> None:
    for name, call in calls(home, toy).items():
        with pytest.raises(DataError, match=f"^text 2 is {shown}, not a text$"):
            call(["a [MASK]", cell])
        if name in ("translate", "classify", "scores", "tag") and not isinstance(cell, list):
            with pytest.raises(DataError, match=f"^the text is {shown}, not a text$"):
                call(cell)


def test_what_is_no_text_of_two_is_named(home: Path, toy: Toy) -> None:
    answerer, judge, writer = (library.load(home / name) for name in ("answer", "pair", "lm"))
    with pytest.raises(DataError, match=r"^question 2 is None, not a text$"):
        answerer.results([("Who?", TEXT), (None, TEXT)])
    with pytest.raises(DataError, match=r"^the text of question 1 is 7, not a text$"):
        answerer("Who?", 7)
    with pytest.raises(DataError, match=r"^the second text of pair 1 is None, not a text$"):
        judge("a", None)
    with pytest.raises(DataError, match=r"^prompt 2 is None, not a text$"):
        writer.continued(["a", None], 3, Decoding())
    with pytest.raises(DataError, match=r"^the prompt is None, not a text$"):
        writer(None)
    for call in (writer.score, writer.log_probs, writer.look, library.load(toy.good).look):
        with pytest.raises(DataError, match=r"^the text is None, not a text$"):
            call(None)
    with pytest.raises(DataError, match=r"^the target is 5, not a text$"):
        library.load(toy.good).look("un", 5)


@pytest.mark.parametrize("one", ["a dog", None, 3, b"abc"])
def test_one_text_is_not_taken_for_a_list_of_letters(home: Path, toy: Toy, one: Any) -> None:
    filler, classifier, writer = (library.load(home / name) for name in ("mlm", "classify", "lm"))
    asked: dict[str, Callable[[], Any]] = {
        "text": lambda: filler.results(one),
        "texts": lambda: filler.embedder()(one),
        "of a classifier": lambda: classifier.probabilities(one),
        "of a translator": lambda: library.load(toy.good).translate(one, Decoding()),
        "prompt": lambda: writer.continued(one, 3, Decoding()),
    }
    for call in asked.values():
        with pytest.raises(DataError, match=r"is not a list of (texts|prompts); write"):
            call()


def test_columns_of_other_libraries_are_texts(translator: Translator) -> None:
    assert translator(np.array(["un deux", ""])) == ["one two", ""]  # type: ignore[call-overload]
    assert translator(text for text in ("un", "deux")) == ["one", "two"]  # type: ignore[call-overload]


def test_a_reader_of_both_directions_names_what_is_no_text(tmp_path: Path) -> None:
    from tests.untrained import BILM

    reader = library.load(write_recurrent(tmp_path / "bilm", BILM, "bilm"))
    with pytest.raises(DataError, match=r"^the text is None, not a text$"):
        reader(None)
    with pytest.raises(DataError, match="the text is empty: it has no words"):
        reader(" ")
