"""Names of labels come back in order, and scores are scikit-learn's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from regard.metrics.labels import LabelScores
from regard.runfolder import LABELS, RunError, read_labels, write_labels


def test_names_are_kept_once_and_in_order(tmp_path: Path) -> None:
    assert write_labels(tmp_path, ["verb", "été", "noun", "verb"]) == ("noun", "verb", "été")
    assert read_labels(tmp_path) == ("noun", "verb", "été")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', "[1]"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / LABELS).write_text(text)
    with pytest.raises(RunError, match=r"labels\.json .*train anew"):
        read_labels(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"labels\.json"):
        read_labels(tmp_path)


def scored(gold: Sequence[str], found: Sequence[str]) -> LabelScores:
    names = tuple(sorted({*gold, *found}, reverse=True))
    right, given = (np.array([names.index(name) for name in some]) for some in (gold, found))
    return LabelScores(names, right, np.eye(len(names))[given])


def test_scores_of_a_small_case() -> None:
    scores = scored("aaabc", "aabbd")
    by_name = {score.name: score for score in scores.labels}
    assert list(by_name) == ["a", "b", "c", "d"]
    assert scores.confusion == {"a": {"a": 2, "b": 1}, "b": {"b": 1}, "c": {"d": 1}}
    assert scores.figures()["accuracy"] == 3 / 5
    assert (by_name["a"].precision, by_name["a"].recall, by_name["a"].f1) == (1.0, 2 / 3, 0.8)
    assert (by_name["b"].precision, by_name["b"].recall, by_name["b"].count) == (0.5, 1.0, 1)
    assert by_name["c"].f1 == by_name["d"].f1 == 0.0
    assert scores.figures()["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 4)


def test_scores_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(0)
    gold, found = ([draw.choice("abcdefg"[: 5 + more]) for _ in range(300)] for more in (0, 2))
    figures = scored(gold, found).figures()
    assert figures["accuracy"] == pytest.approx(metrics.accuracy_score(gold, found))
    assert figures["macro_f1"] == pytest.approx(metrics.f1_score(gold, found, average="macro"))
    assert figures["matthews"] == pytest.approx(metrics.matthews_corrcoef(gold, found))
    precision, recall, f1, count = metrics.precision_recall_fscore_support(gold, found, zero_division=0)
    ours = scored(gold, found).labels
    assert [score.precision for score in ours] == pytest.approx(list(precision))
    assert [score.recall for score in ours] == pytest.approx(list(recall))
    assert [score.f1 for score in ours] == pytest.approx(list(f1))
    assert [score.count for score in ours] == list(count)
