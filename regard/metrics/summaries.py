"""How good summaries are: ROUGE, the words that they share with others'. Lin 2004, aclanthology.org/W04-1013."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import Error
from regard.metrics.certainty import Indices, Interval, between, intervals
from regard.results import Scores

NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}  # as the package calls them
TITLES = {"rouge_1": "ROUGE-1", "rouge_2": "ROUGE-2", "rouge_l": "ROUGE-L"}


@dataclass(frozen=True)
class SummaryScores(Scores):
    """Of summaries that were `found`: the F1 of words (ROUGE-1), of pairs of words (2) and of the longest common
    sequence (L), each against the nearest of its `references`, stems compared, as the package rouge-score counts."""

    found: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @cached_property
    def each(self) -> dict[str, NDArray[np.float64]]:
        """By name, the F1 of each summary."""
        try:
            from rouge_score.rouge_scorer import RougeScorer
        except ImportError as error:
            raise Error("rouge-score is not installed: pip install 'regard[scores]'") from error
        scorer = RougeScorer(list(NAMES.values()), use_stemmer=True)
        pairs = zip(self.references, self.found, strict=True)
        rows = [scorer.score_multi(list(references), found) for references, found in pairs]
        return {name: np.array([row[theirs].fmeasure for row in rows]) for name, theirs in NAMES.items()}

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        return {name: float(values[chosen].mean()) for name, values in self.each.items()}

    def metrics(self) -> dict[str, float]:
        return self.figures()

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        return intervals(self.figures, len(self.found))

    def record(self) -> dict[str, Any]:
        signature = "rouge-score, F1, stems, nearest reference"
        return {**self.figures(), "intervals": self.intervals, "signature": signature, "texts": len(self.found)}

    def table(self) -> str:
        found = self.figures()
        rows = [
            f"{TITLES[name]:<9}{found[name]:.4f}  (95% of such test sets: {between(sure)})"
            for name, sure in self.intervals.items()
        ]
        mean = float(np.mean([len(references) for references in self.references]))
        return "\n".join([*rows, f"F1 of stems, nearest of {mean:.1f} references on the mean"])
