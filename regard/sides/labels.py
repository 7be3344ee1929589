"""Any number of labels that come out, each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import DataError
from regard.metrics.many_labels import USUAL_THRESHOLD, ManyLabelScores, as_matrix, best_threshold
from regard.runfolder import Run
from regard.sides.base import Judgement, OutputSide, Row, Say, Verdicts
from regard.sides.label import SEPARATOR, ranked, unknown_label

SECTION = "labels"  # of a run's config: {"threshold": …}


@dataclass
class Labels(OutputSide):
    """Those of these `names` whose probability reaches the `threshold`, which validation examples choose. A cell names
    several with "|" between them: Location|mount."""

    metrics = ("micro_f1", "macro_f1", "exact", "loss")
    mistakes = "The worst mistakes"
    names: tuple[str, ...]
    threshold: float = USUAL_THRESHOLD
    weights: Tensor | None = field(default=None, repr=False)

    def read(self, run: Run) -> None:
        self.threshold = float(run.read_config().get(SECTION, {}).get("threshold", USUAL_THRESHOLD))

    def marks(self, examples: Sequence[Any], which: str) -> list[Sequence[int]]:
        known = {label: i for i, label in enumerate(self.names)}
        found: list[Sequence[int]] = []
        for example in examples:
            cells = cells_of(example.label)
            if away := next((label for label in cells if label not in known), None):
                raise DataError(unknown_label(example, away, self.names, which))
            found.append(sorted(known[label] for label in cells))
        return found

    def learnt(self, marks: Sequence[Row], balanced: bool, called: str, say: Say) -> None:
        """Balanced, what is rare counts as much as what is not: a label is weighed by how many have it not."""
        if balanced:
            counts = as_matrix([[int(i) for i in mark] for mark in marks], len(self.names)).sum(0)
            self.weights = torch.from_numpy((len(marks) - counts) / np.maximum(counts, 1)).float()

    def loss(self, logits: Tensor, marks: Sequence[Row], agreement: float) -> Tensor:
        right = torch.from_numpy(as_matrix([[int(i) for i in mark] for mark in marks], len(self.names)))
        wanted = right.to(logits).repeat(2 if agreement else 1, 1)
        weights = None if self.weights is None else self.weights.to(logits)
        loss = F.binary_cross_entropy_with_logits(logits, wanted, pos_weight=weights)
        if not agreement:
            return loss
        one, other = logits.chunk(2)
        apart = (one.sigmoid() - other.sigmoid()) * (one - other)  # KL both ways, of a yes or no
        return loss + agreement / 2 * apart.mean()

    def verdicts(self, logits: Tensor) -> Tensor:
        return logits.sigmoid()

    def said(self, verdict: NDArray[Any]) -> str:
        return SEPARATOR.join(self.chosen(verdict))

    def chosen(self, verdict: NDArray[Any]) -> list[str]:
        return [name for name, chance in zip(self.names, verdict, strict=True) if chance >= self.threshold]

    def right(self, example: Any) -> str:
        return SEPARATOR.join(sorted(cells_of(example.label)))

    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        found = {"labels": self.chosen(verdict), "scores": ranked(self.names, verdict)}
        return Judgement(self.said(verdict), found, given, float(verdict.max()))

    def nothing(self, given: Mapping[str, str]) -> Judgement:
        return Judgement("", {"labels": [], "scores": {}}, given)

    def scores(self, examples: Sequence[Any], verdicts: Verdicts, which: str, called: str) -> ManyLabelScores:
        right = as_matrix(self.marks(examples, which), len(self.names))
        return ManyLabelScores(self.names, right, verdicts, self.threshold, called)

    def tuned(self, examples: Sequence[Any], verdicts: Verdicts) -> Mapping[str, Any]:
        right = as_matrix(self.marks(examples, "validation"), len(self.names))
        self.threshold = best_threshold(right, verdicts)
        return {SECTION: {"threshold": self.threshold}}

    def wrong(self, examples: Sequence[Any], verdicts: Verdicts) -> list[int]:
        """Those with the most labels too many or too few first."""
        right = as_matrix(self.marks(examples, "validation"), len(self.names))
        errors = ((verdicts >= self.threshold) != right).sum(1)
        return [int(i) for i in np.argsort(-errors, kind="stable") if errors[i]]


def cells_of(cell: str) -> set[str]:
    """The labels that a cell names."""
    return {part.strip() for part in cell.split(SEPARATOR) if part.strip()}


def find_many(examples: Iterable[Any]) -> set[str]:
    """The labels of a training set of which an example may have several."""
    found = {label for example in examples for label in cells_of(example.label)}
    if not found:
        raise DataError("no training text has a label")
    return found
