"""Intervals hold what they should, and what is said follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from regard.lab.statistics import Interval, Resampling, bleu, compared, fall, interval, sentence_counts

REFERENCES = ["the black cat sleeps on the mat .", "a dog barks at night", "yes", "it rains again and again today"]
GOOD = ["the black cat sleeps on a mat .", "a dog barks at the night", "yes", "it rains again today"]


def test_bleu_of_counts_is_sacrebleus() -> None:
    for hypotheses in (GOOD, REFERENCES, ["no", "words", "that", "match"], ["the cat", "dog a", "no", "again it"]):
        counts = np.array(sentence_counts(hypotheses, REFERENCES)).sum(0)
        assert bleu(counts) == pytest.approx(BLEU().corpus_score(hypotheses, [REFERENCES]).score)


def test_an_interval_of_bleu_shrinks_with_more_sentences() -> None:
    counts = np.array([sentence_counts(GOOD, REFERENCES)])
    few, many = counts.repeat(5, 1), counts.repeat(80, 1)
    widths = []
    for one in (few, many):
        found = interval(Resampling(one.shape[1])(bleu, one))
        assert found.low < found.value < found.high
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 3


def test_sentences_are_drawn_alike_for_every_contestant_so_that_differences_are_paired() -> None:
    counts = np.array([sentence_counts(GOOD, REFERENCES)]).repeat(20, 1)
    one, other = (Resampling(counts.shape[1], seed=3)(bleu, counts)[1] for _ in range(2))
    assert np.array_equal(one, other)


def test_seeds_that_differ_widen_the_interval() -> None:
    one = np.array(sentence_counts(GOOD * 40, REFERENCES * 40))
    perfect = np.array(sentence_counts(REFERENCES * 40, REFERENCES * 40))
    alike = interval(Resampling(160)(bleu, np.stack([one, one])))
    apart = interval(Resampling(160)(bleu, np.stack([one, perfect])))
    assert apart.high - apart.low > 3 * (alike.high - alike.low)


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
