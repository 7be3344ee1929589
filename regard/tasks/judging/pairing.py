"""Pairs of texts: two texts and what they are to each other in, a judge of pairs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from regard.config import ConfigError
from regard.data.columns import is_number
from regard.data.examples import JudgedData
from regard.errors import DataError
from regard.models import Classifier, ModelConfig
from regard.runfolder import Scale
from regard.sides import Label, Score, TwoTexts
from regard.sides.label import find_labels
from regard.sides.score import find_scale
from regard.sides.two_texts import FRAME
from regard.tasks.judging.judge import PairJudge
from regard.tasks.judging.reading import TextJudging
from regard.tasks.tuning import check_length

LABELS_TO_DOUBT = 50  # labels that are all numbers: they are taken for scores that were not called so


@dataclass(frozen=True)
class Pairing(TextJudging, kind="pair"):
    """Tell what two texts are to each other: one of the labels that the training pairs have, or a score.

    Labels are scores where the data set says so, or with `scored`. Pairs of more than `max_length` tokens are cut, the
    longer text first; how many are is said.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys((*Label.metrics, *Score.metrics), True),
        "loss": False,
    }
    purpose = "judge pairs"
    source = TwoTexts
    judge = PairJudge

    train: JudgedData = JudgedData()
    valid: JudgedData = JudgedData()
    scored: bool | None = None

    def check(self) -> None:
        if self.max_length <= FRAME + 1:
            raise ConfigError(f"max_length {self.max_length} holds no two texts; it takes at least {FRAME + 2} tokens")

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Classifier) or model.text() is None:
            which = f"one of kind {model.kind}" if model.text() else "one that reads pictures"
            raise ConfigError(f"model: {which} judges no pairs; take a classifier of texts")
        check_length(model, self.max_length)

    def learn_names(self, examples: Iterable[Any]) -> set[str] | Scale:
        pairs = list(examples)
        if not pairs:
            raise DataError("there are no training pairs")
        if pairs[0].scored if self.scored is None else self.scored:
            return find_scale((pair.score for pair in pairs), "pairs")
        names = find_labels(pairs)
        if len(names) > LABELS_TO_DOUBT and all(is_number(name) for name in names):
            raise DataError(f"the training pairs have {len(names)} labels, all of them numbers: are they --scored?")
        return names
