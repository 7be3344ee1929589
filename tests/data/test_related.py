"""Pairs of near texts: what kind they are follows from their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.data.examples import RelatedData
from regard.data.related import Related, RelatedFile
from regard.errors import DataError
from tests.data.written import complaint


@pytest.mark.parametrize(
    ("name", "text", "pair"),
    [
        ("a.tsv", "a b\tc\n", Related("a b", "c")),
        ("a.tsv", "a\tb\t3.5\n", Related("a", "b", 3.5)),
        ("a.tsv", "a\tb\tnot c\n", Related("a", "b", negative="not c")),
        ("a.tsv", "index\tsentence1\tsentence2\tscore\n0\ta\tb\t3.5\n", Related("a", "b", 3.5)),
        ("a.tsv", "anchor\tpositive\na\tb\n", Related("a", "b")),
        ("sts.csv", "g\tf\ty\t1\t0.25\ta, b\tc\n", Related("a, b", "c", 0.25)),
        ("a.csv", "anchor,positive,negative\na,b,7\n", Related("a", "b", negative="7")),
        ("a.csv", "text_a,text_b,score\na,b,-1\n", Related("a", "b", -1.0)),
        ("a.jsonl", '{"text_a": "a", "text_b": "b"}\n', Related("a", "b")),
        ("a.jsonl", '{"text_a": "a", "text_b": "b", "label": 2}\n', Related("a", "b", 2.0)),
        ("a.jsonl", '{"query": "a", "positive": "b", "negative": null}\n', Related("a", "b")),
    ],
)
def test_the_kind_of_a_pair_follows_from_its_columns(tmp_path: Path, name: str, text: str, pair: Related) -> None:
    (tmp_path / name).write_text(text)
    file = RelatedFile(tmp_path / name)
    assert list(file) == list(file) == [pair]


def test_columns_may_be_named_and_some_negatives_missing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "a", "p": "b", "n": "c"}\n{"q": "d", "p": "e"}\n')
    pairs = list(RelatedFile(tmp_path / "a.jsonl", ("q", "p", "n")))
    assert pairs == [Related("a", "b", negative="c"), Related("d", "e")]
    assert [pair.negative for pair in RelatedFile(tmp_path / "a.jsonl", ("q", "p"))] == [None, None]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "a\tb\t1\na\tb\tc d\n", "pair 2, 'a', has no score, and the first has one"),
        ("a.tsv", "a\tb\tc d\na\tb\t1\n", "pair 2, 'a', has a score, and the first has none"),
        ("a.tsv", "a\n", "line 1: no tab between text_a and text_b"),
        ("a.tsv", "a\t\t1\n", "line 1: one of the two texts is empty"),
        ("a.csv", "text_a,text_b,label\na,b,same\n", "line 2: 'same' is no score; `similar` learns numbers"),
        ("a.jsonl", '{"text_a": "a", "text_b": "b", "score": NaN}\n', "line 1: the score nan is no number"),
        ("a.csv", "one,two\na,b\n", "line 1: no column 'text_a'"),
        ("a.tsv", "a\tb\tnan\n", "line 1: the score nan is no number"),
        (
            "a.tsv",
            "a\tb\tyes\nc\td\tno\n" * 3,
            "the third column says 'yes', 'no' again and again: `pair`",
        ),
    ],
)
def test_what_is_of_no_kind_or_of_two_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    assert message in complaint(RelatedFile, tmp_path / name)


def test_named_sets_have_scores_or_translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translations = RelatedData(name="phrasebook", count=3).open()
    assert len(list(translations)) == 3
    assert all(pair.score is None and pair.first != pair.second for pair in translations)
    for name, path, text in (
        ("stsb", "sts-train.csv", "g\tf\ty\t1\t0.25\ta\tb\n"),
        ("mrpc", "train.tsv", "Quality\tx\ty\ta\tb\n1\t7\t8\ta\tb\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / path).write_text(text)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    assert list(RelatedData(name="stsb").open()) == [Related("a", "b", 0.25)]
    with pytest.raises(DataError, match="mrpc has labels, such as 'paraphrase', where scores are needed"):
        list(RelatedData(name="mrpc").open())
