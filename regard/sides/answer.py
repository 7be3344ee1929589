"""One answer that comes out, of those that the training questions have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from regard.metrics.asked import AskedScores
from regard.sides.base import Judgement, Verdicts
from regard.sides.label import Label


@dataclass
class FixedAnswer(Label):
    """One of these `names`, said to be an answer."""

    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        found = super().result(verdict, given)
        return Judgement(found.said, {"answer": found.said, "scores": found.found["scores"]}, given, found.score)

    def nothing(self, given: Mapping[str, str]) -> Judgement:
        return Judgement("", {"answer": None, "scores": {}}, given)

    def scores(self, examples: Sequence[Any], verdicts: Verdicts, which: str, called: str) -> AskedScores:
        found = super().scores(examples, verdicts, which, called)
        questions = tuple(example.question for example in examples)
        return AskedScores(found.names, found.right, found.probabilities, called, questions)
