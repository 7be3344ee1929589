"""Intervals hold what they should, and what is said follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from regard.metrics import statistics
from regard.metrics.statistics import Contest, Interval, Resampling, SeedScores, bleu, compared, fall, sentence_counts

REFERENCES = ["the black cat sleeps on the mat .", "a dog barks at night", "yes", "it rains again and again today"]
GOOD = ["the black cat sleeps on a mat .", "a dog barks at the night", "yes", "it rains again today"]


def test_bleu_of_counts_is_sacrebleus() -> None:
    for hypotheses in (GOOD, REFERENCES, ["no", "words", "that", "match"], ["the cat", "dog a", "no", "again it"]):
        counts = np.array(sentence_counts(hypotheses, REFERENCES)).sum(0)
        assert bleu(counts) == pytest.approx(BLEU().corpus_score(hypotheses, [REFERENCES]).score)


def alone(score: SeedScores) -> Interval:
    return Contest({"it": score}).alone()["it"]


def test_an_interval_of_bleu_shrinks_with_more_sentences() -> None:
    counts = np.array([sentence_counts(GOOD, REFERENCES)])
    few, many = counts.repeat(5, 1), counts.repeat(80, 1)
    widths = []
    for one in (few, many):
        found = alone(Resampling(one.shape[1])(bleu, one))
        assert found.low < found.value < found.high
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 3


def test_sentences_are_drawn_alike_for_every_contestant_so_that_differences_are_paired() -> None:
    counts = np.array([sentence_counts(GOOD, REFERENCES)]).repeat(20, 1)
    scores = {name: Resampling(counts.shape[1], seed=3)(bleu, counts) for name in ("one", "same")}
    assert np.array_equal(scores["one"].resampled, scores["same"].resampled)
    assert Contest(scores).differences()["one", "same"] == Interval(0.0, 0.0, 0.0)


def test_seeds_that_differ_widen_the_interval() -> None:
    one = np.array(sentence_counts(GOOD * 40, REFERENCES * 40))
    perfect = np.array(sentence_counts(REFERENCES * 40, REFERENCES * 40))
    alike = alone(Resampling(160)(bleu, np.stack([one, one])))
    apart = alone(Resampling(160)(bleu, np.stack([one, perfect])))
    assert apart.high - apart.low > 3 * (alike.high - alike.low)


SEED_DEVIATION, SENTENCE_ERROR = 1.0, 0.42  # BLEU


def contest(
    random: np.random.Generator, contestants: int, seeds: int, better: float = 0.0, wild: float = 1.0
) -> Contest:
    """As an experiment leaves it: all contestants are the same model, but for the first, which is so much better and
    whose seeds scatter so many times as much."""
    scores = {}
    for number in range(contestants):
        deviation = SEED_DEVIATION * (1.0 if number else wild)
        true = random.normal(50 + (0.0 if number else better), SENTENCE_ERROR)
        reached = random.normal(true, deviation, seeds)
        scores[str(number)] = SeedScores(reached, random.normal(reached.mean(), SENTENCE_ERROR, 1000))
    return Contest(scores)


def false_verdicts(trials: int, contestants: int, seeds: int, wild: float = 1.0) -> float:
    """How often any two of several contestants that are the same are told apart."""
    random = np.random.default_rng(contestants * 10 + seeds)
    found = 0
    for _ in range(trials):
        gaps = contest(random, contestants, seeds, wild=wild).differences().values()
        found += any(compared(gap) != "not decided" for gap in gaps)
    return found / trials


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("contestants", [2, 4, 9])
def test_contestants_that_are_the_same_are_rarely_told_apart(
    contestants: int, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "DRAWS", 1000)  # a draw for each test set is enough to see the level
    assert false_verdicts(1000, contestants, seeds) <= 0.06


def test_one_whose_seeds_scatter_more_is_not_taken_for_better_or_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "DRAWS", 1000)
    assert false_verdicts(500, 4, 3, wild=4.0) <= 0.08


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("contestants", [2, 4, 9])
def test_the_level_holds_in_many_trials(contestants: int, seeds: int) -> None:
    assert false_verdicts(4000, contestants, seeds) <= 0.06


def test_a_difference_that_is_far_above_the_noise_is_seen() -> None:
    random = np.random.default_rng(0)
    for seeds, better in ((2, 8.0), (3, 5.0), (5, 3.5)):
        seen = [contest(random, 4, seeds, better).differences()["0", "1"] for _ in range(100)]
        assert sum(compared(gap) == "higher" for gap in seen) > 80


def test_two_contestants_with_many_sentences_are_compared_as_by_students_t() -> None:
    """The interval of a difference of two means with one pooled variance, whose quantile is in every table."""
    reached = np.array([[50.0, 51.0, 52.0], [53.0, 54.0, 55.0]])  # variance 1 each, so four degrees of freedom
    scores = {name: SeedScores(one, np.full(1000, one.mean())) for name, one in zip("ab", reached, strict=True)}
    gap = Contest(scores).differences()["b", "a"]
    half = 2.776 * np.sqrt(2 / 3)
    assert gap.value == pytest.approx(3.0)
    assert (gap.low, gap.high) == (pytest.approx(3 - half, rel=0.05), pytest.approx(3 + half, rel=0.03))
    assert Contest(scores).noise().seed_deviation == pytest.approx(1.0)
    assert Contest(scores).noise().decided == pytest.approx(half, rel=0.03)


def test_a_change_within_a_contestant_is_paired_by_its_seeds() -> None:
    start, end = (SeedScores(np.array([20.0, 60.0]) + shift, np.full(1000, 40.0 + shift)) for shift in (0.0, -5.0))
    change = alone(end - start)
    assert (change.value, change.low, change.high) == (-5.0, -5.0, -5.0)


def test_intervals_of_all_contestants_together_are_wider_than_alone() -> None:
    field = contest(np.random.default_rng(1), 6, 3)
    for name, one in field.alone().items():
        all_at_once = field.together()[name]
        assert all_at_once.low < one.low < one.high < all_at_once.high


@pytest.mark.parametrize(
    ("start", "change", "said"),
    [
        (60.0, Interval(-20, -25, -15), "falls"),
        (60.0, Interval(-1, -4, 2), "holds"),
        (60.0, Interval(-3, -4, -2), "holds"),  # it falls, but by less than is asked for
        (60.0, Interval(-6, -14, 2), "not decided"),
        (60.0, Interval(3, 1, 5), "holds"),
        (4.0, Interval(-3, -4, -2), "too low"),
    ],
)
def test_falling_holding_and_not_knowing_are_told_apart(start: float, change: Interval, said: str) -> None:
    assert fall(start, change, tolerance=5.0) == said


def test_a_difference_whose_interval_spans_zero_is_not_decided() -> None:
    assert compared(Interval(2, 1, 3)) == "higher"
    assert compared(Interval(-2, -3, -1)) == "lower"
    assert compared(Interval(2, -1, 5)) == "not decided"
