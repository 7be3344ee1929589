"""How right the tags of words are: accuracy, F1, each tag, and the entities that tags mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Indices, SampledScores, between, calibration_error
from regard.metrics.entities import EntityCounts, count_entities, scheme_of
from regard.metrics.labels import LabelScore, calibration_line, f1_of, label_rows, label_scores

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class TagScores(SampledScores):
    """The right tags of sentences, and the probabilities (words, tags) of these `names` for all their words. Other test
    sets have other sentences, not other words: those of a sentence depend on each other."""

    called = "sentences"

    names: tuple[str, ...]
    right: Sentences
    probabilities: NDArray[np.floating[Any]]
    loss: float

    def __len__(self) -> int:
        return len(self.right)

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
    def every(self) -> list[str]:
        """The tags that can be given, and those that are right."""
        return sorted({*self.names, *self.gold})

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """(N, 3, tags): how often in a sentence each of `every` tag was given rightly, given at all, and right; as
        floating point, so that a resampled test set is one quick product."""
        places, tags = {tag: place for place, tag in enumerate(self.every)}, len(self.every)
        counts = np.zeros((len(self.right), 3, tags))
        for row, wanted, given in zip(counts, self.right, self.found, strict=True):
            right, found = (np.array([places[tag] for tag in some], dtype=np.int64) for some in (wanted, given))
            for i, some in enumerate((right[right == found], found, right)):
                row[i] = np.bincount(some, minlength=tags)
        return counts

    @cached_property
    def tags(self) -> list[LabelScore]:
        return label_scores(self.every, self.counts.sum(0))

    @cached_property
    def scheme(self) -> str | None:
        """How the tags mark entities; None where they do not."""
        return scheme_of(self.names)

    @cached_property
    def entities(self) -> EntityCounts | None:
        return count_entities(self.right, self.found) if self.scheme else None

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Of the words of the chosen sentences."""
        times = np.bincount(np.arange(len(self))[chosen], minlength=len(self))
        counts = np.tensordot(times, self.counts, 1)
        found = {"accuracy": float(counts[0].sum() / counts[2].sum()), "macro_f1": float(f1_of(counts).mean())}
        return {**found, **(self.entities.scores(chosen) if self.entities else {})}

    def metrics(self) -> dict[str, float]:
        return {**self.figures(), "loss": self.loss}

    @property
    def calibration_error(self) -> float:
        numbers = {name: number for number, name in enumerate(self.names)}
        return calibration_error(self.probabilities, np.array([numbers.get(tag, -1) for tag in self.gold]))

    def record(self) -> dict[str, Any]:
        marked = {"scheme": self.scheme, "entities": self.entities.by_type()} if self.entities else {}
        return {
            **super().record(),
            **marked,
            "calibration_error": self.calibration_error,
            "tags": {one.name: one.record("words") for one in self.tags},
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
