"""How good summaries are: ROUGE, the words that they share with others'. Lin 2004, aclanthology.org/W04-1013."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import Error
from regard.metrics.certainty import Indices, SampledScores

NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}  # as the package calls them
SIGNATURE = "rouge-score: F1 of stems, against the nearest reference"


@dataclass(frozen=True)
class SummaryScores(SampledScores):
    """Of summaries that were `found`: the F1 of words (ROUGE-1), of pairs of words (2) and of the longest common
    sequence (L), each against the nearest of its `references`, stems compared, as the package rouge-score counts."""

    called = "texts"

    found: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.found)

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

    def record(self) -> dict[str, Any]:
        return {**super().record(), "signature": SIGNATURE}

    def table(self) -> str:
        return f"{super().table()}; {SIGNATURE}"
