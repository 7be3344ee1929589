"""Classification: labelled texts in, a classifier out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from regard.config import ConfigError, Size
from regard.data.examples import LabelledData
from regard.data.tokenizers import Kind, Tokenizer
from regard.models import Asker, LabellerConfig, ModelConfig, TextReaderConfig
from regard.runfolder import read_labels
from regard.sides import Label, Labels, OneText, OutputSide
from regard.sides.label import find_labels
from regard.sides.labels import find_many
from regard.sides.text import FRAME
from regard.tasks.judging.judge import TextClassifier
from regard.tasks.judging.reading import TextJudging
from regard.tasks.tuning import check_length


@dataclass(frozen=True)
class Classification(TextJudging, kind="classify"):
    """Give texts one of the labels that the training texts have, or with `many` any number of them: a cell then names
    several with "|" between them, and a label is given where its probability reaches a threshold, which the validation
    texts choose.

    A text of more than `max_length` tokens is read up to its last sentence that ends before, and how many are is said.
    A `framed` text stands between the tokenizer's start and end, as encoders that begin from another run read it, and
    is cut after `max_length` tokens; others are read sentence by sentence.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys((*Label.metrics, *Labels.metrics), True),
        "loss": False,
    }
    usual: ClassVar[Mapping[str, Any]] = {**TextJudging.usual, "batch_tokens": 8192, "patience": 4}
    purpose = "classify"
    with_pictures = "classify-pictures"
    source = OneText
    judge = TextClassifier

    train: LabelledData = LabelledData()
    valid: LabelledData = LabelledData()
    tokenizer: Kind = "word"
    max_length: Size = 1000
    batch_texts: Size = 64
    framed: bool = False
    many: bool = False

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, LabellerConfig) or model.text() is None or isinstance(model, Asker):
            which = f"one of kind {model.kind}" if model.text() else "one that reads pictures"
            raise ConfigError(f"model: {which} gives a text no label; take a classifier of texts")
        check_length(model, self.max_length, FRAME if self.framed else 0)

    def beginning(self, reader: TextReaderConfig) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        task, training = super().beginning(reader)
        return ({**task, "framed": True, "batch_texts": 32}, training) if task else ({}, {})

    def reads(self, tokenizer: Tokenizer) -> OneText:
        return OneText(tokenizer, self.max_length, self.framed)

    def learn_names(self, examples: Iterable[Any]) -> set[str]:
        if self.many:
            return find_many(examples)
        return find_labels(examples, 'say --many to give a text any number of labels, or join them without "|"')

    def outcome(self, folder: Path) -> OutputSide:
        names = read_labels(folder)
        return Labels(names) if self.many else Label(names)
