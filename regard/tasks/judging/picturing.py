"""Classification of pictures: labelled pictures in, a classifier of pictures out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.config import ConfigError, Size, Weight, change
from regard.data.examples import LabelledPictureData
from regard.data.pictures.augment import Augment
from regard.data.pictures.blending import blended, draw
from regard.data.pictures.examples import Picture, as_picture
from regard.data.pictures.prepare import as_batch, pictured
from regard.data.pictures.sizing import Fit
from regard.data.store import Store
from regard.look.subject import Subject
from regard.models import Classifier, InputReaderConfig, Model, ModelConfig, PictureReaderConfig, TextLabeller
from regard.runfolder import TOKENS, Run
from regard.sides import Label, OnePicture
from regard.sides.base import Batch
from regard.sides.label import find_labels
from regard.tasks.base import Say, usual
from regard.tasks.judging.judge import Labelling
from regard.tasks.judging.judging import Judging, JudgingTask


class PictureClassifier(Labelling[Picture]):
    """Classifies pictures: `classifier("a.jpg")` is the name of its class. A picture is a file, pixels (H, W, 3) from 0
    to 255, or what a data set gives."""

    source: OnePicture
    pictures = True

    def several(self, values: Any) -> bool:
        return super().several(values) and not isinstance(values, np.ndarray)

    def given(self, values: Any) -> list[Picture]:
        every = values if self.several(values) else [values]
        return [as_picture(value, number) for number, value in enumerate(every, 1)]

    def subject(self) -> Subject:
        return replace(super().subject(), pictures=lambda given: self.source.looked_at(given, self.model))


@dataclass(frozen=True)
class PictureClassification(Judging, kind="classify-pictures"):
    """Give pictures one of the labels that the training pictures have.

    Each is brought to `side` pixels a side by its `fit`; unless told, to the side that the model is made for. While
    training, pictures are changed as `augment` says. With `mixup` or `cutmix` two pictures are blended, by a share
    drawn from Beta(a, a) of that a: all of both, or a rectangle of one into the other, and as much of both labels is
    right. arXiv:1710.09412, arXiv:1905.04899.
    """

    metrics: ClassVar[Mapping[str, bool]] = {**dict.fromkeys(Label.metrics, True), "loss": False}
    usual: ClassVar[Mapping[str, Any]] = usual(
        64, rate=1e-3, weight_decay=0.05, warmup=100, max_steps=3000, validate_every=300, patience=5
    )
    purpose = "classify"
    preset: ClassVar[str] = "picture-classifier"
    source = OnePicture
    judge = PictureClassifier

    train: LabelledPictureData = LabelledPictureData()
    valid: LabelledPictureData = LabelledPictureData()
    side: Size | None = None
    fit: Fit = "crop"
    augment: Augment | None = Augment(flip=0.0, crop="shift")
    mixup: Weight = 0.0
    cutmix: Weight = 0.0

    def check(self) -> None:
        if self.agreement and (self.mixup or self.cutmix):
            raise ConfigError("agreement: two readings of blended pictures have no label to agree on; leave one out")

    def check_model(self, model: ModelConfig) -> None:
        if not (isinstance(model, Classifier) and isinstance(model.reader, PictureReaderConfig)):
            raise ConfigError(
                f"model: one of kind {model.kind} that reads no pictures gives them no label; take a preset of one "
                "that does, such as picture-classifier or vit-tiny"
            )

    def beginning(self, reader: InputReaderConfig) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return {}, {}

    def within(self, model: ModelConfig) -> PictureClassification:
        assert isinstance(model, Classifier)
        assert isinstance(model.reader, PictureReaderConfig)
        return replace(self, side=self.side or model.reader.side)

    def open(self, folder: Path, say: Say) -> PictureJudgingTask:
        return PictureJudgingTask(self, folder, say)

    def tool(self, model: TextLabeller, tokenizer: Any, run: Run) -> PictureClassifier:
        outcome = self.outcome(run.path)
        outcome.read(run)
        return PictureClassifier(model, self.reads(), outcome)

    def reads(self) -> OnePicture:
        """What goes in, as this task reads it."""
        assert self.side is not None
        return OnePicture(self.side, self.fit)

    def learn_names(self, examples: Iterable[Any]) -> set[str]:
        return find_labels(examples, called="pictures")


class PictureJudgingTask(JudgingTask[PictureClassification]):
    """Pictures as their values, in the size that the model reads."""

    source: OnePicture
    counted = "pictures"

    def learn(self, say: Say) -> None:
        self.source = self.config.reads()

    def write(self, say: Say) -> Store:
        source = self.source
        return pictured(
            self.run.path / TOKENS,
            self.config.train.open(),
            source.read,
            lambda part: [(mark,) for mark in self.outcome.marks(part, "training")],
            self.outcome.limit,
            f"{source.side} pixels, {source.fit}",
            say,
        )

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(super().fit(model), {"reader.side": self.source.side})

    def learning(self, model: Model, rows: Sequence[Any]) -> Batch:
        pixels, augment = as_batch(rows, self.source.side), self.config.augment
        if augment is not None:
            random = drawing()
            pixels = np.stack([augment(picture, random) for picture in pixels])
        return self.source.seen(pixels, model)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        blend = draw(len(indices), self.source.side, self.config.mixup, self.config.cutmix, drawing)
        if blend is None:
            return super().loss(model, indices)
        (pictures,) = self.learning(model, self.rows(indices))
        logits = model(blended(pictures, blend)).float()
        marks = [self.marks[i] for i in indices.tolist()]
        own, others = (self.outcome.loss(logits, some, 0.0) for some in (marks, [marks[i] for i in blend.order]))
        return (blend.share * own + (1 - blend.share) * others) * len(indices), len(indices)


def drawing() -> np.random.Generator:
    """Resumed with torch's own state."""
    return np.random.default_rng(int(torch.randint(1 << 31, ())))
