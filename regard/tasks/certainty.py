"""How far a score can be trusted, and how far the probabilities that a model gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1_000
BINS = 15
LEVEL = 0.95

Indices = NDArray[np.int64]


def interval(score: Callable[[Indices], float], count: int, seed: int = 0) -> tuple[float, float]:
    """Between what 95 of 100 test sets of this size would score: the percentiles of a bootstrap over `count` examples,
    of which `score` takes some by number, one or the other several times. Efron 1979."""
    random = np.random.default_rng(seed)
    found = [score(random.integers(0, count, count)) for _ in range(SAMPLES)]
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def calibration_error(probabilities: NDArray[np.floating], right: Indices, bins: int = BINS) -> float:
    """How far off the probability (N, labels) of the likeliest label is from how often it is the `right` one (N,): the
    mean over equal bins of probability, by how many fall into each. Guo et al. 2017, arXiv:1706.04599."""
    sure, correct = probabilities.max(1), probabilities.argmax(1) == right
    places = np.minimum((sure * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    gaps = np.bincount(places, sure, bins) - np.bincount(places, correct, bins)
    return float(np.abs(gaps).sum() / counts.sum())


def label_intervals(right: Indices, found: Indices, labels: int) -> dict[str, tuple[float, float]]:
    """Of accuracy and macro-F1, where these labels by number (N,) were right and these were found."""

    def accuracy(chosen: Indices) -> float:
        return float((right[chosen] == found[chosen]).mean())

    def macro_f1(chosen: Indices) -> float:
        gold, given = right[chosen], found[chosen]
        both = np.bincount(gold[gold == given], minlength=labels)
        either = np.bincount(gold, minlength=labels) + np.bincount(given, minlength=labels)
        return float((2 * both[either > 0] / either[either > 0]).mean())

    return {"accuracy": interval(accuracy, len(right)), "macro_f1": interval(macro_f1, len(right))}
