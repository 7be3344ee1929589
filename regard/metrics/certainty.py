"""How far a score can be trusted, and how far the probabilities that a model gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.statistics import LEVEL, RESAMPLED
from regard.results import Scores

BINS = 15  # of probabilities
TITLES = {  # what figures are called in a table
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "micro_f1": "micro-F1",
    "matthews": "Matthews",
    "exact": "exact",
    "f1": "F1",
    "f1_answered": "F1 (answered)",
    "none_right": "none, rightly",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "mrr": "MRR",
    "recall_at_1": "recall@1",
    "rouge_1": "ROUGE-1",
    "rouge_2": "ROUGE-2",
    "rouge_l": "ROUGE-L",
    "cider": "CIDEr-D",
    **{f"bleu_{order}": f"BLEU-{order}" for order in range(1, 5)},
}

Indices = NDArray[np.int64]
Ends = tuple[float, float]  # of an interval


def intervals(scores: Callable[[Indices], Mapping[str, float]], count: int) -> dict[str, Ends]:
    """Between what 95 of 100 test sets of this size would score: the percentiles of a bootstrap over `count` examples,
    of which `scores` take some by number, one or the other several times. Efron 1979. A score that has nothing to be
    made of in some sample is nan there."""
    random = np.random.default_rng(0)
    found = [scores(random.integers(0, count, count)) for _ in range(RESAMPLED)]
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low_high = {name: np.nanquantile([one[name] for one in found], ends) for name in found[0]}
    return {name: (float(low), float(high)) for name, (low, high) in low_high.items()}


class SampledScores(Scores):
    """Scores whose figures can be computed of any of the examples: what other test sets would score is known by drawing
    from these. `called` is what the examples are."""

    called: str

    def __len__(self) -> int:
        """The number of examples."""
        raise TypeError(f"{type(self).__name__} does not say how many examples it has")

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """By name, of the chosen examples."""
        raise TypeError(f"{type(self).__name__} does not say what its figures are")

    @cached_property
    def intervals(self) -> dict[str, Ends]:
        return intervals(self.figures, len(self))

    def metrics(self) -> dict[str, float]:
        return self.figures()

    def record(self) -> dict[str, Any]:
        return {**self.figures(), "intervals": self.intervals, self.called: len(self)}

    def table(self) -> str:
        return "\n".join([*self.lines(), f"{len(self):,} {self.called}"])

    def lines(self) -> list[str]:
        """A line for each figure, with its interval."""
        found, width = self.figures(), 2 + max(len(TITLES[name]) for name in self.intervals)
        lines = [
            f"{TITLES[name]:<{width}}{found[name]:.4f}  ({between(sure)})" for name, sure in self.intervals.items()
        ]
        return [lines[0].replace("(", "(95% of such test sets: "), *lines[1:]]


def between(interval: Ends, digits: int = 4) -> str:
    low, high = interval
    return f"{low:.{digits}f}–{high:.{digits}f}"


def calibration_error(probabilities: NDArray[np.floating], right: Indices, bins: int = BINS) -> float:
    """How far off the probability (N, labels) of the likeliest label is from how often it is the `right` one (N,): the
    mean over equal bins of probability, by how many fall into each. Guo et al. 2017, arXiv:1706.04599."""
    sure, correct = probabilities.max(1), probabilities.argmax(1) == right
    places = np.minimum((sure * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    gaps = np.bincount(places, sure, bins) - np.bincount(places, correct, bins)
    return float(np.abs(gaps).sum() / counts.sum())
