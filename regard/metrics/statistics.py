"""How sure a number is: intervals over test sentences and seeds, and which verdicts they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Numbers = np.ndarray[Any, Any]

RESAMPLED = 1_000  # test sets that are drawn from the test sentences
DRAWS = 10_000  # draws of the error of a mean: each resampled test set is met so many times with other seeds
LEVEL = 0.95  # of an interval by itself, and of all verdicts together
PERCENT = (0.0, 100.0)  # the scale of BLEU, of error rates and of accuracies
ORDERS = 4  # of n-grams that BLEU counts


@dataclass(frozen=True)
class Interval:
    """A value, and where it lies with a probability of `LEVEL`."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"

    def signed(self) -> str:
        return f"{self.value:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"

    def plain(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


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


# --- what a contestant reached ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeedScores:
    """One quantity of one contestant: with each seed (S,), and the mean over seeds on each resampled test set (R,)."""

    seeds: Numbers
    resampled: Numbers

    @property
    def value(self) -> float:
        return float(self.seeds.mean())

    def __sub__(self, other: SeedScores) -> SeedScores:
        """The change from one quantity of a contestant to another: with the same seeds, on the same test sets."""
        return SeedScores(self.seeds - other.seeds, self.resampled - other.resampled)


class Resampling:
    """Test sets that are drawn from the test sentences, the same for every contestant, so that differences are paired.
    Koehn 2004, "Statistical significance tests for machine translation evaluation"."""

    def __init__(self, sentences: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.weights = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=RESAMPLED)  # (R, N)

    def __call__(self, score: Callable[[Numbers], Numbers], counts: Numbers) -> SeedScores:
        """A score of summed counts (…, C) → (…), from those of each seed and sentence (S, N, C)."""
        resampled = np.stack([score(self.weights @ one) for one in counts])  # (S, R)
        return SeedScores(np.asarray(score(counts.sum(1)), dtype=float), resampled.mean(0))


# --- contestants beside each other ------------------------------------------------------------------------------------


class Contest:
    """One quantity of several contestants, with the error of each mean and of each difference.

    Two errors add up. That of the test sentences is resampled, and paired. That of the seeds is normal; its variance
    is estimated, which a draw of chi-squared accounts for as Student's t does. Two or three seeds say too little of one
    contestant's variance, so the mean variance of all contestants counts, or its own where that is larger. Contestants
    are compared all at once: the largest of all errors, each in units of its own deviation, sets how wide the intervals
    are (Tukey's studentised range; Westfall and Young 1993), so that all verdicts of a question are right together with
    a probability of `LEVEL`; those of several `questions` together are, where each takes its share of the errors
    (Bonferroni).

    With one seed of each only the test sentences are drawn: the intervals are those of these runs, not of the models.
    """

    def __init__(self, scores: Mapping[str, SeedScores], seed: int = 0, questions: int = 1) -> None:
        self.scores = scores
        self.level = 1 - (1 - LEVEL) / questions  # of the verdicts of one question
        self.seeds = np.array([len(one.seeds) for one in scores.values()])  # (K,)
        self.freedom = int((self.seeds - 1).sum())  # degrees of freedom of the variance of seeds
        errors = [one.resampled - one.resampled.mean() for one in scores.values()]
        self.sentence_errors = np.stack(errors)  # (K, R)
        self.random_seed = seed

    @property
    def one_seed(self) -> bool:
        """Whether nothing is known of other seeds."""
        return self.freedom == 0

    @cached_property
    def seed_variance(self) -> Numbers:
        """(K,): of one seed of each contestant; nothing where nothing is known of other seeds."""
        if self.one_seed:
            return np.zeros(len(self.scores))
        own = np.array([one.seeds.var(ddof=1) if len(one.seeds) > 1 else 0.0 for one in self.scores.values()])
        found: Numbers = np.maximum(own, (own * (self.seeds - 1)).sum() / self.freedom)
        return found

    @cached_property
    def errors(self) -> Numbers:
        """(K, DRAWS): what the error of each mean may be."""
        contestants, resampled = self.sentence_errors.shape
        times = -(-DRAWS // resampled)
        drawn: Numbers = np.tile(self.sentence_errors, times)[:, :DRAWS]
        if self.one_seed:
            return drawn
        random = np.random.default_rng(self.random_seed)
        spread = np.sqrt(self.freedom / random.chisquare(self.freedom, DRAWS))  # (DRAWS,)
        normal = random.standard_normal((contestants, DRAWS))
        found: Numbers = drawn + np.sqrt(self.seed_variance / self.seeds)[:, None] * spread * normal
        return found

    def alone(self, scale: tuple[float, float] = (-np.inf, np.inf)) -> dict[str, Interval]:
        """Each contestant by itself, as a table states it; nothing lies beyond the ends of its scale."""
        ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        return {
            name: Interval(one.value, *np.clip(one.value + np.quantile(errors, ends), *scale).tolist())
            for (name, one), errors in zip(self.scores.items(), self.errors, strict=True)
        }

    def together(self) -> dict[str, Interval]:
        """Each contestant, so wide that all intervals hold at once."""
        contrasts = np.eye(len(self.scores))
        return dict(zip(self.scores, self.simultaneous(contrasts), strict=True))

    def differences(self) -> dict[tuple[str, str], Interval]:
        """By how much the first of two is above the second, for every two, so wide that all hold at once."""
        names = list(self.scores)
        pairs = list(combinations(range(len(names)), 2))
        found = self.simultaneous(np.array([contrast(one, other, len(names)) for one, other in pairs]))
        both = {}
        for (one, other), gap in zip(pairs, found, strict=True):
            both[names[one], names[other]] = gap
            both[names[other], names[one]] = Interval(-gap.value, -gap.high, -gap.low)
        return both

    def against(self, reference: str) -> dict[str, Interval]:
        """By how much the others are above one of them, so wide that all hold at once (Dunnett 1955)."""
        names = list(self.scores)
        others = [name for name in names if name != reference]
        contrasts = [contrast(names.index(name), names.index(reference), len(names)) for name in others]
        return dict(zip(others, self.simultaneous(np.array(contrasts)), strict=True)) if others else {}

    def simultaneous(self, contrasts: Numbers) -> list[Interval]:
        """Intervals of some sums of the contestants' values (M, K)."""
        if not len(contrasts):
            return []
        values = contrasts @ np.array([one.value for one in self.scores.values()])
        deviations = self.deviations(contrasts)
        errors = np.abs(contrasts @ self.errors) / np.maximum(deviations, np.finfo(float).tiny)[:, None]
        widths = np.quantile(errors.max(0), self.level) * deviations
        return [Interval(float(v), float(v - w), float(v + w)) for v, w in zip(values, widths, strict=True)]

    def deviations(self, contrasts: Numbers) -> Numbers:
        """(M,): the standard error of each sum: of sentences, and of seeds."""
        sentences = (contrasts @ self.sentence_errors).var(1)
        seeds = (contrasts**2) @ (self.seed_variance / self.seeds)
        found: Numbers = np.sqrt(sentences + seeds)
        return found

    def noise(self) -> Noise:
        """How far seeds scatter, and how far apart two contestants must be to be told apart."""
        widths = [gap.high - gap.value for gap in self.differences().values()]
        return Noise(float(np.sqrt(self.seed_variance.min())), float(np.median(widths)) if widths else 0.0)


@dataclass(frozen=True)
class Noise:
    """The floor of a comparison: the standard deviation of one seed, and the smallest difference that is decided."""

    seed_deviation: float
    decided: float


def contrast(one: int, other: int, count: int) -> Numbers:
    """(count,): one minus the other."""
    weights = np.zeros(count)
    weights[[one, other]] = 1, -1
    return weights


# --- BLEU from counts -------------------------------------------------------------------------------------------------


def sentence_counts(
    hypotheses: Sequence[str], references: Sequence[str], metric: BLEU | None = None
) -> list[list[int]]:
    """What BLEU counts in each sentence: matched n-grams, n-grams, words and words of the reference, by sacreBLEU."""
    if metric is None:
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU()
    found = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = metric.corpus_score([hypothesis], [[reference]])
        found.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return found


def bleu(counts: Numbers, orders: int = ORDERS) -> Numbers:
    """(…, 10) summed counts → (…): BLEU of n-grams of up to so many `orders`, as sacreBLEU computes it, with its
    exponential smoothing of empty matches."""
    counts = np.asarray(counts, dtype=float)
    matched, total = counts[..., :orders], counts[..., ORDERS : ORDERS + orders]
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
