"""Pairs of texts: labels and scores are learnt, used, scored and refused where they do not fit."""

from __future__ import annotations

import io
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import regard as library
from regard.data.catalogue import open_data
from regard.data.examples import JudgedData
from regard.data.judged import JudgedFile
from regard.errors import DataError
from regard.metrics.correlation import matthews, pearson, ranks, spearman
from regard.runfolder import Scale
from regard.sides.two_texts import cut_to
from regard.tasks.judging.pairing import Pairing
from tests.conftest import Say, answer
from tests.helpers import newest_samples
from tests.toy import perform

ANSWERS = {"yes": "agree", "no": "differ"}
WORTH = {"one": 1.0, "two": 2.0, "three": 3.5}
MODEL = "--width 16 --hidden 16 --dropout 0 --pooled-dropout 0 --pieces 80".split()
TRAINING = "--rate 0.01 --warmup 5 --max-steps 80 --validate-every 40".split()


def pairs(count: int, seed: int, of: dict) -> list[tuple[str, str, str]]:  # type: ignore[type-arg]
    draw = random.Random(seed)
    words = [draw.choice(sorted(of)) for _ in range(count)]
    return [(f"Is it {draw.choice(['red', 'blue'])}?", f"I say {word} to it.", str(of[word])) for word in words]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    for name, of in (("labels", ANSWERS), ("scores", WORTH)):
        for part, count in (("train", 200), ("valid", 40)):
            lines = ["\t".join(pair) + "\n" for pair in pairs(count, count, of)]
            (folder / f"{name}.{part}.tsv").write_text("".join(lines))
        data = ["--train", str(folder / f"{name}.train.tsv"), "--valid", str(folder / f"{name}.valid.tsv")]
        more = ["--scored"] if name == "scores" else []
        perform("train", "pair", "--run", folder / name, *data, *more, *MODEL, *TRAINING)
    return folder


def test_labels_and_scores_are_learnt(home: Path) -> None:
    labels, scores = library.load(home / "labels"), library.load(home / "scores")
    assert labels("Is it red?", "I say yes to it.") == "agree"
    assert labels("Is it blue?", "I say no to it.") == "differ"
    assert scores("Is it red?", "I say two to it.") == pytest.approx(2.0, abs=0.3)
    assert scores.scale == Scale(1.0, 3.5)


def test_it_is_scored(home: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", home / "labels", "--data", home / "labels.valid.tsv")
    assert result["matthews"] > 0.9
    assert result["accuracy"] > 0.95
    result = answer(regard, "evaluate", home / "scores", "--data", home / "scores.valid.tsv")
    assert result["pearson"] > 0.95
    assert result["spearman"] > 0.8  # ties of the right scores are broken at random
    assert "Pearson" in regard("evaluate", home / "scores", "--data", home / "scores.valid.tsv")[1]
    assert "Matthews" in regard("evaluate", home / "labels", "--data", home / "labels.valid.tsv")[1]


@pytest.mark.parametrize("name", ["labels", "scores"])
def test_a_sample_has_both_texts_by_themselves_for_the_boxes_of_the_studio(home: Path, name: str) -> None:
    known = [line.split("\t")[:2] for line in (home / f"{name}.valid.tsv").read_text().splitlines()]
    samples = newest_samples(home / name)
    assert samples
    for sample in samples:
        assert [sample["first"], sample["second"]] in known
        assert sample["source"] == f"{sample['first']} | {sample['second']}"


def test_the_report_shows_what_was_taken_for_what_and_the_largest_errors(home: Path) -> None:
    assert "What was taken for what" in (home / "labels" / "report.html").read_text()
    assert "The largest errors" in (home / "scores" / "report.html").read_text()


def test_the_command_line_judges_pairs_and_lines(home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    assert regard("pair", home / "labels", "Is it red?", "I say yes to it.")[1] == "agree\n"
    lines = "Is it red?\tI say no to it.\n\nIs it blue?\tI say yes to it.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert regard("pair", home / "labels")[1] == "differ\n\nagree\n"
    answer = json.loads(regard("pair", home / "labels", "--json", "Is it red?", "I say yes to it.")[1])
    assert answer["label"] == "agree"
    assert set(answer["scores"]) == set(ANSWERS.values())
    score = json.loads(regard("pair", home / "scores", "--json", "Is it red?", "I say one to it.")[1])["score"]
    assert score == pytest.approx(1, abs=0.4)


def test_rare_labels_count_as_much_where_it_is_balanced(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\tx\n" * 19 + "a\tc\ty\n")
    data = JudgedData(file=str(tmp_path / "a.tsv"))
    task = Pairing(train=data, valid=data, balanced=True).open(tmp_path / "run", lambda text: None)
    assert task.outcome.weights is not None
    assert task.outcome.weights.tolist() == pytest.approx([20 / 38, 10])
    said: list[str] = []
    assert Pairing(train=data, valid=data).open(tmp_path / "other", said.append).outcome.weights is None
    assert any("95.0% of the training pairs have the label 'x'" in text and "--balanced" in text for text in said)


@pytest.mark.parametrize(
    ("words", "lines", "message"),
    [
        (["one text"], "", "a pair is two texts, 1 were given"),
        (["a", "b", "c"], "", "a pair is two texts, 3 were given"),
        (["a", " "], "", "pair 1: one of the two texts is empty"),
        ([], "a\tb\nno tab\n", "pair 2: no tab between two texts"),
        (["--shout"], "", "unknown option --shout"),
    ],
)
def test_what_is_no_pair_is_refused(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, words: list[str], lines: str, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    code, _, err = regard("pair", home / "labels", *words)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("train", "valid", "more", "message"),
    [
        ("a\tb\tx\na\tc\tx\n", "a\tb\tx\n", [], "have the label 'x'; a classifier takes at least two"),
        ("a\tb\tx\na\tc\ty\n", "a\tb\tz\n", [], "line 1: the validation text 'a' has the label 'z', which no training"),
        ("a\tb\n", "a\tb\tx\n", [], "line 1: no tab between text_b and label"),
        ("a\tc\t1\na\tb\tx\n", "a\tb\t1\n", ["--scored"], "line 2: the pair 'a' has 'x' where a score is needed"),
        ("a\tb\t1\na\tc\t1\n", "a\tb\t1\n", ["--scored"], "all training pairs have the score 1"),
        ("a\tb\t1\na\tc\t2\n", "a\tb\t1\n", ["--scored", "--balanced"], "have no labels to weigh"),
        ("a\t\tx\n", "a\tb\tx\n", [], "line 1: one of the two texts is empty"),
        ("".join(f"a\tb\t{i}.5\n" for i in range(60)), "a\tb\t1.5\n", [], "all of them numbers: are they --scored?"),
    ],
)
def test_data_that_cannot_be_learnt_is_refused(
    tmp_path: Path, regard: Say, train: str, valid: str, more: list[str], message: str
) -> None:
    for name, text in (("train", train), ("valid", valid)):
        (tmp_path / f"{name}.tsv").write_text(text)
    files = ["--train", tmp_path / "train.tsv", "--valid", tmp_path / "valid.tsv"]
    code, _, err = regard("train", "pair", *files, "--run", tmp_path / "run", *MODEL, *TRAINING, *more)
    assert code == 2
    assert message in err


def test_files_have_named_columns_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "a", "p": "b", "same": true}\n{"q": "a", "p": "b", "same": 2.5}\n')
    found = list(JudgedFile(tmp_path / "a.jsonl", ("q", "p", "same")))
    assert [pair.label for pair in found] == ["true", "2.5"]
    (tmp_path / "b.csv").write_text("text_a,text_b\na,b\n")
    with pytest.raises(DataError, match="no column 'label'"):
        list(JudgedFile(tmp_path / "b.csv"))


def test_named_sets_are_read_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "mrpc/train.tsv": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tHe said.\tSaid he.\n",
        "stsb/sts-train.csv": "news\tMSR\t2012\t0001\t3.800\tA plane.\tAn air plane.\tx\n",
        "sick/SICK_train.txt": "pair_ID\ta\tb\tr\te\n1\tA boy\tA girl\t4.5\tNEUTRAL\n",
        "cola/in_domain_train.tsv": "gj04\t0\t*\tThe cat sleep.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    (mrpc,), (stsb,) = (list(open_data(name, form="judged")) for name in ("mrpc", "stsb"))
    assert (mrpc.first, mrpc.second, mrpc.label, mrpc.scored) == ("He said.", "Said he.", "paraphrase", False)
    assert (stsb.score, stsb.second, stsb.scored) == (3.8, "An air plane.", True)
    (related,), (entailed,) = (list(open_data("sick", name, form="judged")) for name in ("relatedness", "entailment"))
    assert (related.score, related.scored, entailed.label, entailed.scored) == (4.5, True, "NEUTRAL", False)
    (cola,) = open_data("cola", form="labelled")
    assert (cola.text, cola.label) == ("The cat sleep.", "unacceptable")
    (tmp_path / "mrpc/train.tsv").write_text("Quality\n2\t7\t8\ta\tb\n")
    with pytest.raises(DataError, match="line 2: it is not a quality"):
        list(open_data("mrpc", form="judged"))


def test_the_longer_text_is_cut_first() -> None:
    one, other = list(range(10)), list(range(4))
    assert [len(part) for part in cut_to(10, one, other)] == [6, 4]
    assert [len(part) for part in cut_to(10, other, one)] == [4, 6]
    assert [len(part) for part in cut_to(9, one, one)] == [4, 5]
    assert cut_to(14, one, other) == (one, other)


def test_correlations_are_those_of_the_textbooks() -> None:
    gold, found = [1.0, 2.0, 3.0, 4.0, 4.0], [1.1, 1.9, 5.0, 3.0, 3.5]
    assert pearson(gold, found) == pytest.approx(np.corrcoef(gold, found)[0, 1])
    assert ranks([3, 1, 3, 2]).tolist() == [3.5, 1, 3.5, 2]
    assert spearman([1, 2, 3], [10, 100, 1000]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert pearson([1, 1, 1], [1, 2, 3]) == 0
    draw = np.random.default_rng(0)
    one, other = draw.integers(0, 2, 50), draw.integers(0, 2, 50)
    taken = np.bincount(2 * one + other, minlength=4).reshape(2, 2)
    assert matthews(taken) == pytest.approx(pearson(one, other))  # of two labels
    assert matthews(np.eye(3, dtype=np.int64)) == pytest.approx(1)
    assert matthews(np.array([[0, 1, 0], [0, 0, 1], [2, 0, 0]])) < 0
    assert matthews(np.array([[1, 0], [1, 0]])) == 0


def test_a_pair_of_which_one_text_is_empty_is_named_by_its_number(home: Path) -> None:
    judge = library.load(home / "labels")
    with pytest.raises(DataError, match=r"^pair 3: one of the two texts is empty$"):
        judge.results([("a", "b"), ("", " "), ("c", "")])
    assert [one.said for one in judge.results([("", ""), None])] == ["", ""]
