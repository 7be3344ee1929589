"""How many of the labels that a model gives are right: accuracy, F1, each label, and what was taken for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Indices, SampledScores, calibration_error
from regard.metrics.correlation import matthews
from regard.page.records import Table

MOST_TABLED = 20  # labels of a confusion table on a terminal
Counts = NDArray[Any]  # (3, labels): how often each was given rightly, was given at all, and was right
LEAST_CHANCE = 1e-30  # of a right label, so that its logarithm is a number


@dataclass(frozen=True)
class LabelScore:
    """Of one label: the share of right ones where it was given, and where it should have been; their harmonic mean;
    and how often it should have been."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int

    @classmethod
    def of(cls, name: str, counts: Sequence[int] | Counts) -> LabelScore:
        """0 where there is nothing to divide by."""
        both, given, wanted = (int(count) for count in counts)
        precision, recall = both / given if given else 0.0, both / wanted if wanted else 0.0
        return cls(name, precision, recall, 2 * both / (given + wanted) if given + wanted else 0.0, wanted)

    def record(self, counted: str) -> dict[str, Any]:
        """`counted` is the name of the count."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, counted: self.count}


def label_scores(names: Sequence[str], counts: Counts) -> list[LabelScore]:
    """Of every label that should have been or was given, in the order of the alphabet."""
    rows = sorted(zip(names, counts.T.tolist(), strict=True))
    return [LabelScore.of(name, row) for name, row in rows if any(row)]


def f1_of(counts: Counts) -> NDArray[np.float64]:
    """Of every label that should have been or was given. Their mean is macro-F1: a rare label counts as much as a
    frequent one."""
    both, given, wanted = counts
    there = given + wanted > 0
    return np.asarray(2 * both[there] / (given + wanted)[there], dtype=np.float64)


@dataclass(frozen=True)
class LabelScores(SampledScores):
    """Of N examples the number of the `right` label (N,) and the probabilities (N, labels) that a model gives to the
    labels of these `names`; `called` is what examples are."""

    names: tuple[str, ...]
    right: Indices
    probabilities: NDArray[np.floating[Any]]
    called: str = "texts"

    def __len__(self) -> int:
        return len(self.right)

    @cached_property
    def found(self) -> Indices:
        return np.asarray(self.probabilities.argmax(1), dtype=np.int64)

    def taken(self, chosen: Indices | slice = slice(None)) -> Counts:
        """(labels, labels): how often, of the chosen examples, the label of a row was taken for that of a column."""
        size = len(self.names)
        pairs = np.bincount(self.right[chosen] * size + self.found[chosen], minlength=size * size)
        return pairs.reshape(size, size)

    @cached_property
    def labels(self) -> list[LabelScore]:
        """Of every label that is right somewhere or was found."""
        return label_scores(self.names, counts_of(self.taken()))

    @property
    def loss(self) -> float:
        """The mean of -log of what the right label was given."""
        chosen = self.probabilities[np.arange(len(self.right)), self.right]
        return float(-np.log(np.maximum(chosen, LEAST_CHANCE)).mean())

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Of the chosen examples."""
        taken = self.taken(chosen)
        return {
            "accuracy": float(np.trace(taken) / taken.sum()),
            "macro_f1": float(f1_of(counts_of(taken)).mean()),
            "matthews": matthews(taken),
        }

    def metrics(self) -> dict[str, float]:
        return {**self.figures(), "loss": self.loss}

    @cached_property
    def confusion(self) -> dict[str, dict[str, int]]:
        """Right label → label that was found → how often; what never happened is left out."""
        places = sorted(range(len(self.names)), key=lambda place: self.names[place])
        taken = self.taken()
        rows = {self.names[i]: {self.names[j]: int(taken[i, j]) for j in places if taken[i, j]} for i in places}
        return {name: row for name, row in rows.items() if row}

    def record(self) -> dict[str, Any]:
        return {
            **super().record(),
            "classes": {one.name: one.record(self.called) for one in self.labels},
            "confusion": self.confusion,
            "calibration_error": calibration_error(self.probabilities, self.right),
        }

    def table(self) -> str:
        sure = calibration_line(calibration_error(self.probabilities, self.right))
        lines = [super().table(), sure, "", *label_rows("class", self.labels, self.called)]
        return "\n".join([*lines, *confused(self.confusion, [one.name for one in self.labels])])


def counts_of(taken: Counts) -> Counts:
    """(3, labels): of what was taken for what, how often each label was given rightly, given at all, and right."""
    return np.stack([taken.diagonal(), taken.sum(0), taken.sum(1)])


def calibration_line(error: float) -> str:
    return f"its probabilities are {error:.3f} off on the mean (expected calibration error)"


def label_table(called: str, scores: Sequence[LabelScore], counted: str) -> Table:
    """A row for each label, for a page."""
    rows = [
        [one.name, *(f"{value:.3f}" for value in (one.precision, one.recall, one.f1)), f"{one.count:,}"]
        for one in scores
    ]
    return Table([called, "precision", "recall", "F1", counted], rows)


def label_rows(called: str, scores: Sequence[LabelScore], counted: str) -> Iterator[str]:
    """A header, and a line for each label."""
    width = max(len(called), *(len(one.name) for one in scores)) + 2
    yield f"{called:<{width}}precision  recall      F1{counted:>10}"
    for one in scores:
        yield f"{one.name:<{width}}{one.precision:9.3f}{one.recall:8.3f}{one.f1:8.3f}{one.count:10,}"


def confused(confusion: Mapping[str, Mapping[str, int]], names: Sequence[str]) -> list[str]:
    """What was taken for what: a table, or of many labels the combinations that are wrong most often."""
    if len(names) > MOST_TABLED:
        each = ((name, other, count) for name, row in confusion.items() for other, count in row.items())
        wrong = sorted((one for one in each if one[0] != one[1]), key=lambda one: -one[2])[:MOST_TABLED]
        return ["", "most often taken for another", *(f"{count:6,}  {name} → {other}" for name, other, count in wrong)]
    width, cell = max(17, *(len(name) + 2 for name in names)), max(8, *(len(name) + 2 for name in names))
    rows = [
        f"{name:<{width}}" + "".join(f"{confusion.get(name, {}).get(other, 0):>{cell},}" for other in names)
        for name in names
    ]
    return ["", f"{'right ↓ found →':<{width}}" + "".join(f"{name:>{cell}}" for name in names), *rows]
