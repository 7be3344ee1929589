"""A task of one's own, with a new kind of thing that comes out, a data set and a preset: a text in, a count out.

regard train count --import examples/counts.py --data french-words --preset counter --run runs/counts
regard use runs/counts --import examples/counts.py "The black cat sleeps."
regard evaluate runs/counts --import examples/counts.py --data french-words --split test
regard look runs/counts --import examples/counts.py "The black cat sleeps."
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError
from regard.data.catalogue import DataSet, open_data
from regard.data.examples import LabelledData
from regard.data.labelled import Labelled
from regard.data.pairs import again
from regard.errors import DataError
from regard.results import Scores
from regard.sides import Judgement, OneText, OutputSide
from regard.tasks.judging.judge import Judge
from regard.tasks.judging.reading import TextJudging
from regard.zoo import Preset, get

MOST = 1000


@dataclass(frozen=True)
class CountScores(Scores):
    """Counts that are right, those that a model gives, and the loss of its training."""

    gold: NDArray[Any]
    found: NDArray[Any]
    loss: float

    def metrics(self) -> dict[str, float]:
        error = np.abs(self.found - self.gold)
        return {"mean_error": float(error.mean()), "exact": float((error < 0.5).mean()), "loss": self.loss}

    def table(self) -> str:
        return "\n".join(f"{name:12}{value:.3f}" for name, value in self.metrics().items())


class Count(OutputSide):
    """A whole number: the model gives the logarithm of its mean."""

    metrics = ("mean_error", "exact", "loss")
    mistakes = "The largest errors"
    names = ("count",)
    limit = MOST  # above what is stored of a training example

    def marks(self, examples: Sequence[Any], which: str) -> list[Sequence[int]]:
        for example in examples:
            if not (example.label.isdecimal() and int(example.label) < MOST):
                raise DataError(
                    f"{example.where}: the {which} text has the count {example.label!r}; write 0 to {MOST - 1}"
                )
        return [[int(example.label)] for example in examples]

    def loss(self, logits: Tensor, marks: Sequence[Any], agreement: float) -> Tensor:
        if agreement:
            raise ConfigError("agreement: readings of a count are not compared; leave it out")
        right = torch.tensor([float(mark[0]) for mark in marks], device=logits.device)
        return F.poisson_nll_loss(logits[:, 0], right)

    def verdicts(self, logits: Tensor) -> Tensor:
        return logits.exp()

    def said(self, verdict: NDArray[Any]) -> str:
        return f"{verdict[0]:.1f}"

    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        return Judgement(self.said(verdict), {"count": float(verdict[0])}, given)

    def scores(self, examples: Sequence[Any], verdicts: NDArray[Any], which: str, called: str) -> CountScores:
        gold, found = np.array([float(one.label) for one in examples]), verdicts[:, 0]
        loss = float(F.poisson_nll_loss(torch.from_numpy(np.log(found)), torch.from_numpy(gold).float()))
        return CountScores(gold, found, loss)

    def wrong(self, examples: Sequence[Any], verdicts: NDArray[Any]) -> list[int]:
        gold = np.array([float(one.label) for one in examples])
        return [int(i) for i in np.argsort(-np.abs(verdicts[:, 0] - gold), kind="stable")]


@dataclass(frozen=True)
class Counting(TextJudging, kind="count"):
    """Tell how many there are of something, from a text."""

    metrics: ClassVar[Mapping[str, bool]] = {"mean_error": False, "exact": True, "loss": False}
    source = OneText
    judge = Judge

    train: LabelledData = LabelledData()
    valid: LabelledData = LabelledData()

    def learn_names(self, examples: Iterable[Any]) -> Iterable[str]:
        return Count.names

    def outcome(self, folder: Any) -> Count:
        return Count()


@again
def french_words(languages: str, split: str, count: int | None) -> Iterator[Labelled]:
    """English sentences and how many words their French translations have."""
    for pair in open_data("phrasebook", "en-fr", split, count):
        yield Labelled(pair.source, str(len(pair.target.split())))


DATA_SETS = (
    DataSet(
        "french-words",
        "English sentences and how many words the French ones have",
        languages=(),
        splits=("train", "valid", "test"),
        forms={"labelled": french_words},
    ),
)
PRESETS = (Preset("counter", get("classifier", width=64), "ours: a small classifier, with one number that comes out"),)
