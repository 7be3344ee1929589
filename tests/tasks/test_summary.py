"""Summaries: long texts in, short ones out; learnt, written, cut, scored by ROUGE."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import regard as library
from regard.config import from_dict
from regard.data.catalogue import open_data
from regard.data.store import Store
from regard.errors import DataError
from regard.metrics.summaries import SummaryScores
from regard.tasks.writing.summary import Summariser, Summary
from tests.conftest import Say, answer
from tests.toy import perform

TOPICS = ("meeting", "invoice", "holiday")
FILLER = ("dear all", "thank you", "please note", "as we said", "kind regards", "see below")
MODEL = "--tokenizer word --layers 1 --width 32 --heads 2 --hidden 48 --dropout 0".split()
LENGTHS = "--max-length 24 --max-summary 6".split()
TRAINING = "--batch-tokens 800 --warmup 10 --rate 0.005 --validate-every 100 --max-steps 200".split()


def mail(draw: random.Random) -> tuple[str, str]:
    topic = draw.choice(TOPICS)
    parts = [*draw.choices(FILLER, k=draw.randint(2, 6)), f"it is the {topic}"]
    draw.shuffle(parts)
    return " ".join(parts), f"about the {topic}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("mails"), random.Random(0)
    for name, count in (("train", 200), ("valid", 30)):
        rows = [json.dumps(dict(zip(("body", "subject"), mail(draw), strict=True))) + "\n" for _ in range(count)]
        (folder / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
    data = ["--train", str(folder / "train.jsonl"), "--valid", str(folder / "valid.jsonl")]
    perform("train", "summarise", "--run", folder / "run", *data, *MODEL, *LENGTHS, *TRAINING)
    return folder


def test_the_topic_is_found_wherever_it_stands(home: Path) -> None:
    summariser = library.load(home / "run")
    assert isinstance(summariser, Summariser)
    assert summariser("dear all it is the invoice thank you") == "about the invoice"
    assert summariser(["it is the holiday", "", "  "]) == ["about the holiday", "", ""]


def test_a_long_text_is_read_up_to_where_the_model_reads(home: Path) -> None:
    summariser = library.load(home / "run")
    start = "it is the meeting " + "thank you " * 9
    long = start + "it is the invoice " * 10
    (parts,) = summariser.parts([long])
    assert len(summariser.tokenizer.encode([parts.texts[0]])[0]) == summariser.longest == 23
    assert summariser(long) == summariser(parts.texts[0])


def test_a_text_of_several_lines_has_one_summary(home: Path) -> None:
    summariser = library.load(home / "run")
    assert summariser("dear all\n\nit is the invoice\nthank you") == "about the invoice"


def test_summaries_stay_below_their_length(home: Path, regard: Say) -> None:
    summariser = library.load(home / "run")
    (found,) = summariser.results(["dear all it is the invoice"], min_length=5)
    assert len(summariser.tokenizer.encode([found.text])[0]) <= 5
    assert answer(regard, "summarise", home / "run", "it is the holiday", "--beam", 2)["text"] == "about the holiday"


def test_it_is_scored_by_rouge(home: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", home / "run", "--data", home / "valid.jsonl", "--beam", 1)
    assert result["rouge_l"] > 0.9
    assert result["texts"] == 30
    scores = library.evaluate(home / "run", home / "valid.jsonl", beam=1)
    assert scores.record()["rouge_1"] == result["rouge_1"]
    assert "ROUGE-L" in str(scores)


def test_long_sources_are_kept_and_cut_long_summaries_are_dropped(tmp_path: Path) -> None:
    rows = [("a b c d " * 20, "a b"), ("a b", "c d e f g h i j"), ("c", "d")]
    (tmp_path / "t.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in rows), encoding="utf-8")
    data = {"file": str(tmp_path / "t.tsv")}
    config = from_dict(Summary, {"train": data, "valid": data, "tokenizer": "word", "max_length": 12, "max_summary": 6})
    said: list[str] = []
    task = config.open(tmp_path / "run", said.append)
    store = Store.open(tmp_path / "run" / "tokens")
    assert [len(row) for row in store.rows(0, [0, 1])] == [11, 1]
    assert len(task.valid) == 2
    assert "1 training pairs of 6 tokens or more were dropped" in said


def test_a_summary_is_no_longer_than_what_the_model_reads() -> None:
    assert (Summary(max_length=32).max_target, Summary(max_length=100, max_summary=20).max_target) == (32, 20)


def test_rouge_is_that_of_its_formula_against_the_nearest_reference() -> None:
    scores = SummaryScores(("the cat sat down",), (("a dog", "the cats sat"),))
    found = scores.metrics()
    assert found["rouge_1"] == pytest.approx(2 * 3 / (4 + 3))  # stems: cats is cat
    assert found["rouge_2"] == pytest.approx(2 * 2 / (3 + 2))
    assert found["rouge_l"] == pytest.approx(2 * 3 / (4 + 3))


def test_mails_have_the_subjects_of_others_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aeslc").mkdir()
    lines = [{"body": "Hello. ", "subject": "greeting", "annotators": ["hi", ""]}, {"body": " ", "subject": "empty"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "aeslc" / "dev.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    (pair,) = open_data("aeslc", split="valid", form="summaries")
    assert (pair.source, pair.target, pair.others) == ("Hello.", "greeting", ("hi",))
    (tmp_path / "aeslc" / "dev.jsonl").write_text('{"body": 3}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1: it is no mail with a body and a subject"):
        list(open_data("aeslc", split="valid", form="summaries"))
