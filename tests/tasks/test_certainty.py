"""How far scores and probabilities can be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from regard.metrics.certainty import Indices, calibration_error, intervals
from regard.metrics.labels import LabelScores
from regard.metrics.tags import TagScores


def test_the_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    right = np.arange(1_000) < 800
    low, high = intervals(lambda chosen: {"share": float(right[chosen].mean())}, len(right))["share"]
    deviation = (0.8 * 0.2 / 1_000) ** 0.5
    assert low == pytest.approx(0.8 - 1.96 * deviation, abs=0.003)
    assert high == pytest.approx(0.8 + 1.96 * deviation, abs=0.003)


def names(numbers: Indices) -> list[str]:
    return [str(number) for number in numbers]


def scored(right: Indices, found: Indices, labels: int) -> LabelScores:
    return LabelScores(tuple(map(str, range(labels))), right, np.eye(labels)[found])


def test_the_intervals_of_labels_hold_their_scores() -> None:
    random = np.random.default_rng(0)
    right = random.integers(0, 3, 400)
    found = np.where(random.random(400) < 0.7, right, random.integers(0, 3, 400))
    scores = scored(right, found, labels=5)  # of which two never came
    assert scores.figures()["accuracy"] == (right == found).mean()
    assert scores.figures() == pytest.approx(scored(right, found, labels=3).figures())
    assert list(scores.intervals) == ["accuracy", "macro_f1", "matthews"]
    assert all(low < scores.figures()[name] < high for name, (low, high) in scores.intervals.items())
    exact = scored(right, right, labels=5).intervals
    assert [name for name, ends in exact.items() if ends == pytest.approx((1.0, 1.0))] == list(scores.intervals)


def words(sentences: list[list[str]], chosen: Indices) -> Indices:
    """The numbers of the tags of the chosen sentences."""
    return np.array([int(tag) for i in chosen for tag in sentences[i]])


def test_the_intervals_of_tags_are_over_sentences() -> None:
    random = np.random.default_rng(0)
    gold = [names(random.integers(0, 3, random.integers(1, 9))) for _ in range(200)]
    found = [tags if random.random() < 0.7 else names(random.integers(0, 4, len(tags))) for tags in gold]
    sure = TagScores(tuple("0123"), gold, np.eye(4)[words(found, np.arange(200))], 0.0)

    def drawn(chosen: Indices) -> dict[str, float]:
        figures = scored(words(gold, chosen), words(found, chosen), labels=4).figures()
        return {name: figures[name] for name in ("accuracy", "macro_f1")}

    by_hand = intervals(drawn, len(gold))
    assert sure.figures() == pytest.approx(drawn(np.arange(200)))
    for name, score in sure.figures().items():
        assert sure.intervals[name] == pytest.approx(by_hand[name])
        assert sure.intervals[name][0] < score < sure.intervals[name][1]
    right = words(gold, np.arange(200)) == words(found, np.arange(200))
    word = intervals(lambda chosen: {"share": float(right[chosen].mean())}, len(right))["share"]
    wide, narrow = (high - low for low, high in (sure.intervals["accuracy"], word))
    assert wide > 1.2 * narrow  # wrong words stand together


def test_a_score_that_a_sample_cannot_have_does_not_spoil_its_interval() -> None:
    few = np.array([1.0, np.nan, np.nan, np.nan])
    low, high = intervals(lambda chosen: {"share": float(np.nanmax(few[chosen], initial=0))}, 4)["share"]
    assert (low, high) == (0, 1)
    assert intervals(lambda chosen: {"share": 1.0 if 0 in chosen else float("nan")}, 4)["share"] == (1, 1)


def test_probabilities_that_come_true_are_calibrated() -> None:
    random = np.random.default_rng(0)
    sure = random.uniform(0.5, 1.0, 200_000)
    chances = np.stack([sure, 1 - sure], 1)
    right = (random.random(len(sure)) > sure).astype(np.int64)
    assert calibration_error(chances, right) < 0.005
    too_sure = np.stack([np.full_like(sure, 0.999), np.full_like(sure, 0.001)], 1)
    assert calibration_error(too_sure, right) == pytest.approx(0.999 - (right == 0).mean())


def test_by_hand() -> None:
    chances = np.array([[0.9, 0.1], [0.92, 0.08], [0.4, 0.6], [0.45, 0.55]])
    right = np.array([0, 1, 1, 1])
    # One bin has 0.9 and 0.92, of which one is right; 0.6 and 0.55 stand in bins of their own, both right.
    assert calibration_error(chances, right, bins=10) == pytest.approx((abs(1.82 - 1) + 0.4 + 0.45) / 4)
    # 0.68 and 0.72 are on both sides of a border, one wrong and one right; 1 belongs to the last bin.
    chances, right = np.array([[0.68, 0.32], [0.72, 0.28], [1.0, 0.0]]), np.array([1, 0, 0])
    assert calibration_error(chances, right, bins=10) == pytest.approx((0.68 + 0.28 + 0) / 3)
