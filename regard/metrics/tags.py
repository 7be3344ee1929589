"""How right the tags of words are: accuracy, F1, each tag, and the entities that tags mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Interval, between, calibration_error, intervals, tag_intervals
from regard.metrics.entities import EntityCounts, count_entities, scheme_of
from regard.metrics.labels import LabelScore, accuracy, calibration_line, label_rows, label_scores, macro_f1
from regard.results import Scores

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class TagScores(Scores):
    """The right tags of sentences, and the probabilities (words, tags) of these `names` for all their words."""

    names: tuple[str, ...]
    right: Sentences
    probabilities: NDArray[np.floating[Any]]
    loss: float

    @cached_property
    def gold(self) -> list[str]:
        return [tag for tags in self.right for tag in tags]

    @cached_property
    def flat(self) -> list[str]:
        """The likeliest tag of each word."""
        return [self.names[i] for i in self.probabilities.argmax(1)]

    @cached_property
    def found(self) -> list[list[str]]:
        """By sentence."""
        ends = np.cumsum([len(tags) for tags in self.right]).tolist()
        return [self.flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    @cached_property
    def tags(self) -> list[LabelScore]:
        return label_scores(self.gold, self.flat)

    @cached_property
    def scheme(self) -> str | None:
        """How the tags mark entities; None where they do not."""
        return scheme_of(self.names)

    @cached_property
    def entities(self) -> EntityCounts | None:
        return count_entities(self.right, self.found) if self.scheme else None

    def metrics(self) -> dict[str, float]:
        found = {"accuracy": accuracy(self.gold, self.flat), "macro_f1": macro_f1(self.gold, self.flat)}
        return {**found, **(self.entities.scores() if self.entities else {}), "loss": self.loss}

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        found = tag_intervals(self.right, self.found)
        return {**found, **(intervals(self.entities.scores, len(self.right)) if self.entities else {})}

    @property
    def calibration_error(self) -> float:
        numbers = {name: number for number, name in enumerate(self.names)}
        return calibration_error(self.probabilities, np.array([numbers.get(tag, -1) for tag in self.gold]))

    def record(self) -> dict[str, Any]:
        marked = {"scheme": self.scheme, "entities": self.entities.by_type()} if self.entities else {}
        figures = {name: value for name, value in self.metrics().items() if name != "loss"}
        return {
            **figures,
            **marked,
            "intervals": self.intervals,
            "calibration_error": self.calibration_error,
            "tags": {one.name: one.record("words") for one in self.tags},
            "sentences": len(self.right),
            "words": len(self.gold),
        }

    def table(self) -> str:
        found, sure = self.metrics(), self.intervals
        lines = [
            f"accuracy  {found['accuracy']:.4f}  (95% of such test sets: {between(sure['accuracy'])})",
            f"macro-F1  {found['macro_f1']:.4f}  ({between(sure['macro_f1'])})",
            calibration_line(self.calibration_error),
            f"{len(self.right):,} sentences, {len(self.gold):,} words",
        ]
        if self.entities is not None:
            whole = f"precision {found['entity_precision']:.4f}  recall {found['entity_recall']:.4f}"
            f1 = f"F1 {found['entity_f1']:.4f}  ({between(sure['entity_f1'])})"
            lines.insert(2, f"entities ({self.scheme}): {f1}  {whole}")
            lines += ["", *label_rows("type", self.entities.labels(), "entities")]
        return "\n".join([*lines, "", *label_rows("tag", self.tags, "words")])
