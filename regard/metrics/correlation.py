"""How well verdicts go with what is right: Matthews' coefficient for labels, Pearson's and Spearman's for scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.metrics.certainty import Indices, SampledScores


def matthews(taken: NDArray[np.int64]) -> float:
    """Of how often the label of a row was taken for that of a column (labels, labels). From -1 to 1, 0 for chance, for
    any number of labels; 0 where one label is all that is right or was found.

    Matthews 1975; for several labels Gorodkin 2004.
    """
    counts = taken.astype(np.float64)
    total, right = counts.sum(), np.trace(counts)
    wanted, given = counts.sum(1), counts.sum(0)
    below = np.sqrt((total**2 - given @ given) * (total**2 - wanted @ wanted))
    return float((right * total - wanted @ given) / below) if below else 0.0


def pearson(gold: ArrayLike, found: ArrayLike) -> float:
    """The linear correlation; 0 where either never varies."""
    one, other = (np.asarray(values, dtype=np.float64) for values in (gold, found))
    one, other = one - one.mean(), other - other.mean()
    below = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / below) if below else 0.0


def spearman(gold: ArrayLike, found: ArrayLike) -> float:
    """The correlation of ranks; equal values share their mean rank."""
    return pearson(ranks(gold), ranks(found))


def correlations(gold: ArrayLike, found: ArrayLike) -> dict[str, float]:
    """Both, by name."""
    return {"pearson": pearson(gold, found), "spearman": spearman(gold, found)}


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    _, which, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: NDArray[np.float64] = ends - (counts - 1) / 2
    return means[which]


@dataclass(frozen=True)
class CorrelationScores(SampledScores):
    """Scores of N examples that are right, and those that a model gives; the `loss` is that of its training."""

    gold: NDArray[np.float64]
    found: NDArray[np.float64]
    loss: float
    called: str = "pairs"

    def __len__(self) -> int:
        return len(self.gold)

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        return correlations(self.gold[chosen], self.found[chosen])

    def metrics(self) -> dict[str, float]:
        return {**self.figures(), "loss": self.loss}

    @property
    def error(self) -> float:
        return float(np.abs(self.found - self.gold).mean())

    def record(self) -> dict[str, Any]:
        return {**super().record(), "mean error": self.error}

    def table(self) -> str:
        return f"{super().table()}, off by {self.error:.4f} on the mean"
