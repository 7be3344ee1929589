"""A score that comes out: a number between the lowest and the highest that training had."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import DataError
from regard.metrics.correlation import CorrelationScores
from regard.nn.agreement import score_loss
from regard.runfolder import Scale
from regard.sides.base import Judgement, OutputSide, Row, Verdicts

SCORE_STEPS = 10_000  # between the lowest score and the highest: what is stored of a training example


@dataclass
class Score(OutputSide):
    """A score on a scale: a model learns it from 0 to 1."""

    metrics = ("pearson", "spearman", "loss")
    mistakes = "The largest errors"
    scale: Scale
    names: tuple[str, ...] = ("score",)

    @property
    def limit(self) -> int:
        return SCORE_STEPS + 1

    def inside(self, examples: Sequence[Any]) -> NDArray[np.float64]:
        return self.scale.inside(np.array([example.score for example in examples], dtype=np.float64))

    def marks(self, examples: Sequence[Any], which: str) -> list[Sequence[int]]:
        return [(int(mark),) for mark in np.rint(self.inside(examples) * SCORE_STEPS)]

    def loss(self, logits: Tensor, marks: Sequence[Row], agreement: float) -> Tensor:
        right = torch.tensor([int(mark[0]) for mark in marks], device=logits.device)
        return score_loss(logits[:, 0], right / SCORE_STEPS, agreement)

    def verdicts(self, logits: Tensor) -> Tensor:
        return self.scale.low + logits * (self.scale.high - self.scale.low)

    def said(self, verdict: NDArray[Any]) -> str:
        return f"{verdict[0]:.2f}"

    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        return Judgement(f"{verdict[0]:.4f}", {"score": float(verdict[0])}, given)

    def nothing(self, given: Mapping[str, str]) -> Judgement:
        return Judgement("", {}, given, math.nan)

    def scores(self, examples: Sequence[Any], verdicts: Verdicts, which: str, called: str) -> CorrelationScores:
        gold, found = np.array([example.score for example in examples]), verdicts[:, 0].astype(np.float64)
        loss = float(((self.scale.inside(found) - self.scale.inside(gold)) ** 2).mean())
        return CorrelationScores(gold, found, loss, called)

    def wrong(self, examples: Sequence[Any], verdicts: Verdicts) -> list[int]:
        """All, the largest errors first."""
        errors = np.abs(verdicts[:, 0] - np.array([example.score for example in examples]))
        return [int(i) for i in np.argsort(-errors, kind="stable")]


def find_scale(scores: Iterable[float], called: str) -> Scale:
    """From the lowest to the highest of the training examples."""
    every = list(scores)
    if min(every) == max(every):
        raise DataError(f"all training {called} have the score {every[0]:g}: there is nothing to learn")
    return Scale(min(every), max(every))
