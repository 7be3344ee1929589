"""Answers as spans: learnt, found in long texts by windows, left out where there is none, scored as SQuAD does."""

from __future__ import annotations

import io
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.data.catalogue import open_data
from regard.data.questions import Question, open_questions
from regard.data.tokenizers import Tokenizer
from regard.decoding.spans import LONGEST, best_span
from regard.errors import DataError
from regard.metrics.answers import exact, judged_answers, overlap
from regard.metrics.certainty import intervals
from regard.models import Tagger, TaggerModel
from regard.tasks.answering import answerer as answering
from regard.tasks.answering.answerer import Answerer, TextWindow, read_windows, windows
from regard.tasks.answering.task import span_in
from regard.zoo import get
from tests.conftest import Say, answer
from tests.helpers import built, newest_samples
from tests.toy import perform

PLACES = ("rome", "paris", "oslo", "lima", "cairo")


def squad(path: Path, count: int, seed: int) -> Path:
    """Who lives where; a third of the questions ask for what the text does not say."""
    draw = random.Random(seed)
    paragraphs = []
    for i in range(count):
        context = f"it was told that anna lives in {draw.choice(PLACES)} since long ago"
        start = context.index("in ") + 3
        place = context[start:].split(maxsplit=1)[0]
        none = i % 3 == 0
        question = "what does anna eat" if none else "where does anna live"
        answers = [] if none else [{"text": place, "answer_start": start}]
        qas = [{"id": str(i), "question": question, "answers": answers, "is_impossible": none}]
        paragraphs.append({"context": context, "qas": qas})
    path.write_text(json.dumps({"version": "v2.0", "data": [{"title": "a", "paragraphs": paragraphs}]}))
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    files = [str(squad(folder / f"{name}.json", count, count)) for name, count in (("train", 150), ("valid", 30))]
    model = "--width 24 --hidden 24 --dropout 0 --states-dropout 0 --tokenizer word".split()
    steps = "--rate 0.01 --warmup 5 --max-steps 100 --validate-every 50 --max-length 40 --stride 8".split()
    words = ["train", "answer", "--train", files[0], "--valid", files[1], "--run", str(folder / "run"), *model, *steps]
    perform(*words)
    return folder


def test_a_sample_has_question_and_text_by_themselves_for_the_boxes_of_the_studio(home: Path) -> None:
    known = (home / "valid.json").read_text()
    for sample in newest_samples(home / "run"):
        assert sample["first"] == sample["source"]
        assert json.dumps(sample["second"])[1:-1] in known
        assert sample["reference"] == "(none)" or sample["reference"] in sample["second"]


def test_it_answers_and_knows_when_not_to(home: Path, regard: Say) -> None:
    answerer = library.load(home / "run")
    text = "it was told that anna lives in oslo since long ago"
    found = answerer("where does anna live", text)
    assert (found.text, text[found.start : found.end]) == ("oslo", "oslo")
    assert found.score > 0.5
    nothing = answerer("what does anna eat", text)
    assert (nothing.text, nothing.score < 0.5) == ("", True)
    assert answerer("what does anna eat", text, threshold=-1e9).text
    result = answer(regard, "evaluate", home / "run", "--data", home / "valid.json")
    assert min(result[name] for name in ("f1", "exact", "f1_answered", "none_right")) > 0.9
    assert "exact" in regard("evaluate", home / "run", "--data", home / "valid.json")[1]


def test_a_long_text_is_read_in_windows_whole(home: Path) -> None:
    answerer = library.load(home / "run")
    text = " ".join(["it was told since long ago"] * 10) + " anna lives in lima since long ago"
    parts = list(windows(answerer.tokenizer, [("where does anna live", text)], answerer.longest, answerer.stride))
    assert len(parts) > 3
    assert all(len(part.question) + len(part.part) + 4 <= answerer.longest for part in parts)
    read = {place for part in parts for place in part.places}
    assert read == {(left, right) for _, left, right in answerer.tokenizer.pieces(text)}
    assert answerer("where does anna live", text).text == "lima"


def test_the_command_line_answers(home: Path, regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_text("it was told that anna lives in cairo since long ago\n")
    assert regard("answer", home / "run", "--text", path, "where does anna live")[1] == "cairo\n"
    lines = "what does anna eat\n\nwhere does anna live\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    code, out, _ = regard("answer", home / "run", "--text", path)
    assert (code, out) == (0, "\n\ncairo\n")
    answer = json.loads(regard("answer", home / "run", "--text", path, "--json", "where does anna live")[1])
    assert (answer["text"], answer["start"]) == ("cairo", 31)
    code, _, err = regard("answer", home / "run", "--text", tmp_path / "none.txt", "who")
    assert (code, "does not exist" in err) == (2, True)


def test_a_question_that_is_too_long_is_cut_and_counted(home: Path, regard: Say, tmp_path: Path) -> None:
    text, empty = tmp_path / "text.txt", tmp_path / "empty.txt"
    text.write_text("The cat purrs.")
    empty.write_text("\n")
    code, _, err = regard("answer", home / "run", "--text", text, "Who " * 200 + "purrs?", "Who purrs?")
    assert (code, "1 of 2 questions have more than 20 tokens" in err) == (0, True)
    code, _, err = regard("answer", home / "run", "--text", empty, "Who purrs?")
    assert (code, f"{empty} is empty" in err) == (2, True)


def test_the_span_of_an_answer_is_told_where_it_is_wholly_inside() -> None:
    one = Tokenizer.train(["a b c d e f"], "word", 20)
    asked = Question("1", "a", "a b c d e f", (("c d", 4),))
    spans = [span_in(part, asked) for part in windows(one, [(asked.question, asked.context)], 8, 1)]
    assert spans == [(0, 0), (2, 3), (1, 2), (0, 0)]
    assert span_in(next(windows(one, [("a", "a b c d e f")], 30, 4)), Question("1", "a", "a b c d e f")) == (0, 0)


@torch.no_grad()
@pytest.mark.parametrize("preset", ["bert-tiny", "roberta-mini", "xlnet-mini"])
def test_windows_of_an_encoder_begin_where_it_is_said_and_padding_changes_nothing(preset: str) -> None:
    one = Tokenizer.train(["a b c d e f"], "word", 20, closes=preset == "xlnet-mini")
    reader = get(preset, vocabulary=one.vocabulary, width=16, heads=2, layers=1, hidden=16).inside()  # type: ignore[attr-defined]
    model = built(Tagger(reader=reader, labels=2))
    assert isinstance(model, TaggerModel)
    parts = list(windows(one, [("a b", "c d e f"), ("a", "b")], 30, 4))
    together, places, keep = read_windows(model, one, parts)
    assert keep is not None
    for number, part in enumerate(parts):
        alone, ((offset, nowhere),), _ = read_windows(model, one, [part])
        tokens, _ = one.paired(part.question, part.part, segmented=preset != "roberta-mini")
        assert tokens[offset : offset + len(part.part)].tolist() == part.part
        assert tokens[nowhere] == one.start
        assert places[number] == (offset, nowhere)
        torch.testing.assert_close(together[number][: alone.shape[1]], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sure_there_is_none", [0, 1])
def test_there_is_no_answer_only_where_every_window_says_so(
    monkeypatch: pytest.MonkeyPatch, sure_there_is_none: int
) -> None:
    """Of all windows the one that is least sure of none counts, as in BERT's SQuAD 2.0, wherever it stands."""
    one = Tokenizer.train(["a b c d e f"], "word", 20)
    reader = get("bert-tiny", vocabulary=one.vocabulary, width=16, heads=2, layers=1, hidden=16).inside()  # type: ignore[attr-defined]
    model = built(Tagger(reader=reader, labels=2))
    assert isinstance(model, TaggerModel)
    answerer = Answerer(model, one, max_length=8, stride=3)

    def told(
        model: object, tokenizer: Tokenizer, parts: list[TextWindow]
    ) -> tuple[torch.Tensor, list[tuple[int, int]], None]:
        """Logits of 0, in each window 1 for its first word and none at -2, or in one of them at 4."""
        logits = torch.zeros(len(parts), 8, 2)
        for row, part in zip(logits, parts, strict=True):
            row[1] = 0.5
            row[0] = 2.0 if part.places[0][0] == 6 * sure_there_is_none else -1.0
        return logits, [(1, 0)] * len(parts), None

    monkeypatch.setattr(answering, "read_windows", told)
    found = answerer("a", "a b c d e f")
    assert found.text in ("a", "d")
    assert found.score > 0.5


def test_the_best_span_ends_behind_its_beginning_and_not_too_far() -> None:
    logits = torch.zeros(50, 2)
    logits[40, 0], logits[5, 1], logits[42, 1], logits[3, 0] = 5, 9, 4, 1
    assert best_span(logits) == (10.0, 3, 5)
    logits[5, 1] = 0
    assert best_span(logits) == (9.0, 40, 42)
    far = torch.full((50, 2), -1.0)
    far[0, 0], far[LONGEST, 1] = 9, 9
    assert best_span(far)[1:] != (0, LONGEST)
    far[LONGEST - 1, 1] = 8
    assert best_span(far) == (17.0, 0, LONGEST - 1)


def test_answers_are_compared_as_squad_does() -> None:
    assert exact("The Eiffel Tower!", ["eiffel tower"]) == 1
    assert exact("", []) == 1
    assert exact("Rome", []) == 0
    assert overlap("in Rome", ["Rome", "Paris"]) == pytest.approx(2 / 3)
    assert overlap("", ["Rome"]) == 0
    scores = judged_answers(["Rome", "", "x"], [["Rome"], [], ["y"]]).figures()
    assert scores == pytest.approx({"f1": 2 / 3, "exact": 2 / 3, "f1_answered": 0.5, "none_right": 1.0})


def test_a_word_that_comes_twice_in_both_answers_is_shared_twice() -> None:
    assert overlap("go go team", ["go go now"]) == pytest.approx(2 / 3)
    assert overlap("go go", ["go now"]) == pytest.approx(1 / 2)


def test_every_score_of_answers_has_an_interval() -> None:
    found = ["Rome", "", "x", "Rome"] * 25
    judged = judged_answers(found, [["Rome"], [], ["y"], []] * 25)
    sure = intervals(judged.figures, len(found))
    assert set(sure) == set(judged.figures()) == {"f1", "exact", "f1_answered", "none_right"}
    assert all(low < judged.figures()[name] < high for name, (low, high) in sure.items())
    assert np.isnan(judged.figures(np.array([0, 2]))["none_right"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", 'not the JSON of SQuAD, an object with a list "data" .a list, an object or a number stands where'),
        ('{"date": []}', 'it has no "data"'),
        ("{'data': []}", "Expecting property name enclosed in double quotes: line 1 column 2"),
        ('{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": 1}]}]}]}', 'SQuAD has it .it has no "answers"'),
        ('{"data": []}', "no question in it"),
    ],
)
def test_a_file_that_is_not_squads_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=message):
        list(open_questions(tmp_path / "a.json"))


def test_either_version_of_squad_and_lines_of_json_are_read(tmp_path: Path) -> None:
    span = {"text": "anna", "answer_start": 4}
    old = {"id": "a", "question": "who", "answers": [span, span]}
    new = [{**old, "is_impossible": False}, {"id": "b", "question": "why", "answers": [], "is_impossible": True}]
    new[1]["plausible_answers"] = [span]
    for name, qas in (("train-v1.1.json", [old]), ("train-v2.0.json", new)):
        data = {"version": name[6:10], "data": [{"title": "t", "paragraphs": [{"context": "the anna", "qas": qas}]}]}
        (tmp_path / name).write_text(json.dumps(data))
    right = Question("a", "who", "the anna", (("anna", 4), ("anna", 4)))
    assert list(open_questions(tmp_path / "train-v1.1.json")) == [right]
    assert list(open_questions(tmp_path / "train-v2.0.json")) == [right, Question("b", "why", "the anna")]
    lists = {"text": ["anna"] * 2, "answer_start": [4, 4]}
    records = [{**old, "context": "the anna"}, {**old, "context": "the anna", "answers": lists}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert list(open_questions(tmp_path / "a.jsonl")) == [right, right]
    (tmp_path / "a.jsonl").write_text('{"question": "who", "context": "a", "answers": [3]}\n')
    with pytest.raises(DataError, match=r"line 1: '\[3\]' are no answers with a text and an answer_start"):
        list(open_questions(tmp_path / "a.jsonl"))
    (tmp_path / "a.jsonl").write_text(json.dumps({**old, "context": "anna"}) + "\n")
    with pytest.raises(DataError, match="question a: the answer 'anna' does not stand at 4"):
        list(open_questions(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("start", [-1, 1, 99])
def test_an_answer_that_stands_elsewhere_is_refused(tmp_path: Path, start: int) -> None:
    qas = [{"id": "q7", "question": "who", "answers": [{"text": "anna", "answer_start": start}]}]
    data = {"data": [{"paragraphs": [{"context": "anna lives", "qas": qas}]}]}
    (tmp_path / "a.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match="question q7: the answer 'anna' does not stand at"):
        list(open_questions(tmp_path / "a.json"))


def test_the_named_set_is_split_by_articles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squad2").mkdir()
    article = json.loads(squad(tmp_path / "one.json", 3, 0).read_text())["data"][0]
    (tmp_path / "squad2" / "dev-v2.0.json").write_text(json.dumps({"data": [article] * 4}))
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    counts = {split: len(list(open_data("squad2", split=split, form="questions"))) for split in ("train", "valid")}
    assert counts == {"train": 9, "valid": 3}
