"""How right the labels are of which an example may have several: micro and macro F1, and each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Indices, SampledScores
from regard.metrics.labels import LabelScore, f1_of, label_rows

LEAST_CHANCE = 1e-7  # of what is right, so that its logarithm is a number
USUAL_THRESHOLD = 0.5


@dataclass(frozen=True)
class ManyLabelScores(SampledScores):
    """Of N examples which labels are `right` (N, labels), and the probability that a model gives to each label; those
    that reach the `threshold` are found."""

    names: tuple[str, ...]
    right: NDArray[np.bool_]
    probabilities: NDArray[np.floating[Any]]
    threshold: float
    called: str = "texts"

    def __len__(self) -> int:
        return len(self.right)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(3, N, labels): found rightly, found, and right."""
        found = self.probabilities >= self.threshold
        return np.stack([found & self.right, found, self.right]).astype(np.int64)

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Of the chosen examples: F1 over all labels of all examples (micro), the mean of the labels' F1 (macro), and
        the share of examples whose labels are all right and no others."""
        counts = self.counts[:, chosen]
        f1 = f1_of(counts.sum(1))
        return {
            "micro_f1": LabelScore.of("all", counts.sum((1, 2))).f1,
            "macro_f1": float(f1.mean()) if len(f1) else 0.0,
            "exact": float((counts[1] == counts[2]).all(1).mean()),
        }

    @property
    def loss(self) -> float:
        """The mean binary cross-entropy of a label."""
        chances = np.where(self.right, self.probabilities, 1 - self.probabilities).astype(np.float64)
        return float(-np.log(np.maximum(chances, LEAST_CHANCE)).mean())

    def metrics(self) -> dict[str, float]:
        return {**self.figures(), "loss": self.loss}

    @cached_property
    def labels(self) -> list[LabelScore]:
        return [LabelScore.of(name, row) for name, row in zip(self.names, self.counts.sum(1).T, strict=True)]

    def record(self) -> dict[str, Any]:
        labels = {one.name: one.record(self.called) for one in self.labels}
        return {**super().record(), "threshold": self.threshold, "classes": labels}

    def table(self) -> str:
        reached = f"a label is given from a probability of {self.threshold:.2f} on"
        return "\n".join([super().table(), reached, "", *label_rows("label", self.labels, self.called)])


def best_threshold(right: NDArray[np.bool_], probabilities: NDArray[np.floating[Any]]) -> float:
    """The threshold with the highest micro F1, halfway between two probabilities; the usual one where none is found."""
    flat = probabilities.ravel()
    order = np.argsort(-flat, kind="stable")
    both = np.cumsum(right.ravel()[order])
    f1 = 2 * both / (np.arange(1, len(flat) + 1) + right.sum())
    ends = np.flatnonzero(np.append(np.diff(flat[order]) != 0, True))  # equal probabilities fall on one side
    if not len(ends) or not both[-1]:
        return USUAL_THRESHOLD
    last = int(ends[np.argmax(f1[ends])])
    above = float(flat[order[last]])
    below = float(flat[order[last + 1]]) if last + 1 < len(flat) else 0.0
    return (above + below) / 2


def as_matrix(marks: Sequence[Sequence[int]], labels: int) -> NDArray[np.bool_]:
    """(N, labels): which labels have these numbers."""
    right = np.zeros((len(marks), labels), dtype=bool)
    for row, numbers in zip(right, marks, strict=True):
        row[list(numbers)] = True
    return right
