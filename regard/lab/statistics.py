"""How sure a number is: intervals by resampling sentences and seeds, and what may be said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, Any]
Draws = tuple[float, Numbers]  # a value, and what resampling made of it (ROUNDS,)

ROUNDS = 1000
SURE = 95  # per cent
ORDERS = 4  # of n-grams that BLEU counts


@dataclass(frozen=True)
class Interval:
    """A value, and where it lies in 95 of 100 resamplings."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"

    def signed(self) -> str:
        return f"{self.value:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"

    def plain(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def interval(drawn: Draws) -> Interval:
    """Where the draws of a value lie."""
    value, draws = drawn
    low, high = np.percentile(draws, [(100 - SURE) / 2, (100 + SURE) / 2])
    return Interval(float(value), float(low), float(high))


# --- verdicts ---------------------------------------------------------------------------------------------------------


def fall(start: float, change: Interval, tolerance: float) -> str:
    """Whether something that changed so much from `start` on "falls", "holds" (it loses less than `tolerance`), or is
    "not decided"; of what starts so low that it could not lose much more, nothing can be said: "too low"."""
    if start < 2 * tolerance:
        return "too low"
    if change.low > -tolerance:
        return "holds"
    return "falls" if change.high < 0 else "not decided"


def compared(difference: Interval) -> str:
    """Whether one is "higher" or "lower" than the other, or that is "not decided"."""
    if difference.low > 0:
        return "higher"
    return "lower" if difference.high < 0 else "not decided"


# --- resampling -------------------------------------------------------------------------------------------------------


class Resampling:
    """Draws of sentences that every contestant shares, so that differences are paired, and of each contestant's seeds.

    With one seed only sentences are drawn: what another seed would give is then not in the interval. Koehn 2004.
    """

    def __init__(self, sentences: int, rounds: int = ROUNDS, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.weights = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=rounds)  # (R, N)
        self.random = random

    def __call__(self, score: Callable[[Numbers], Numbers], counts: Numbers) -> Draws:
        """The mean over seeds of a score of summed counts (…, C) → (…), from those of each sentence (seeds, N, C)."""
        drawn = np.stack([score(self.weights @ one) for one in counts], 1)  # (R, seeds)
        return float(score(counts.sum(1)).mean()), of_seeds(drawn, self.random)


def of_seeds(drawn: Numbers, random: np.random.Generator) -> Numbers:
    """(R, seeds) → (R,): the mean of as many seeds, drawn with replacement."""
    chosen = random.integers(0, drawn.shape[1], size=drawn.shape)
    means: Numbers = np.take_along_axis(drawn, chosen, 1).mean(1)
    return means


def minus(one: Draws, other: Draws) -> Draws:
    """The difference of two values that were drawn together."""
    return one[0] - other[0], one[1] - other[1]


# --- BLEU from counts -------------------------------------------------------------------------------------------------


def sentence_counts(hypotheses: Sequence[str], references: Sequence[str]) -> list[list[int]]:
    """What BLEU counts in each sentence: matched n-grams, n-grams, words and words of the reference, by sacreBLEU."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    found = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = metric.corpus_score([hypothesis], [[reference]])
        found.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return found


def bleu(counts: Numbers) -> Numbers:
    """(…, 10) summed counts → (…): BLEU as sacreBLEU computes it, with its exponential smoothing of empty matches."""
    counts = np.asarray(counts, dtype=float)
    matched, total = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    words, reference = counts[..., -2], counts[..., -1]
    empty = matched == 0
    smoothed = np.where(empty, 0.5 ** np.cumsum(empty, -1), matched)
    known = total.min(-1) > 0
    precision = np.log(smoothed / np.maximum(total, 1)).mean(-1)
    brevity = np.minimum(0.0, 1 - reference / np.maximum(words, 1))
    return np.where(known & (matched[..., 0] > 0), 100 * np.exp(precision + brevity), 0.0)


def error_rate(links: Numbers) -> Numbers:
    """(…, 2) summed links that agree with gold, and links of both sides → (…): the alignment error rate in per cent."""
    agreeing, both = np.asarray(links, dtype=float)[..., 0], np.asarray(links, dtype=float)[..., 1]
    rate: Numbers = 100 * (1 - 2 * agreeing / np.maximum(both, 1))
    return rate
