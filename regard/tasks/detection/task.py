"""Detection: pictures with boxes in, a detector out. Carion et al. 2020, arXiv:2005.12872."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.config import ConfigError, Size, change
from regard.data.batches import Batches
from regard.data.examples import BoxData
from regard.data.pictures.augment import Augment
from regard.data.pictures.boxes import BYTES_A_BOX, Whole, as_bytes, augmented, boxes_in, from_bytes, placed
from regard.data.pictures.examples import BoxedPicture, Picture
from regard.data.pictures.prepare import BYTES, as_batch, pictured
from regard.data.pictures.reading import Pixels
from regard.errors import DataError
from regard.metrics.boxes import BoxScores, Found, Labelled, box_scores
from regard.models import Detector, DetectorModel, Model, ModelConfig
from regard.models.pixels import scaled
from regard.nn.boxes import centred
from regard.nn.matching import Things
from regard.page.records import Section, Table
from regard.results import Scores
from regard.runfolder import LABELS, TOKENS, Run, read_labels, write_labels
from regard.sides.label import LABELS_NAMED
from regard.tasks.base import Done, Evaluation, Say, Task, TaskConfig, Validation, sample, usual
from regard.tasks.detection.detector import BATCH, THRESHOLD, PictureDetector, Sizing

SAMPLES = 5


@dataclass(frozen=True)
class Detection(TaskConfig, kind="detect"):
    """Find the things in pictures, each with its class and its box.

    All of a picture is brought to `side` pixels a side by its `fit`; unless told, to the side that the model is made
    for. While training, pictures are changed as `augment` says, and boxes with them.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"ap": True, "ap50": True, "ap75": True, "loss": False}
    purpose = "detect"
    preset: ClassVar[str] = "detector"
    usual: ClassVar[Mapping[str, Any]] = usual(
        16, rate=1e-3, weight_decay=1e-4, warmup=100, decay=0.4, max_steps=8000, validate_every=500
    )

    train: BoxData = BoxData()
    valid: BoxData = BoxData()
    side: Size | None = None
    fit: Whole = "pad"
    augment: Augment | None = Augment()

    def check(self) -> None:
        if self.augment is not None and self.augment.changes:
            raise ConfigError(
                "augment.changes: some of them turn and shear a picture, which boxes cannot follow; take 0"
            )

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Detector):
            raise ConfigError(
                f"model: one of kind {model.kind!r} finds no boxes; take a preset of one that does, such as "
                "detector or detr-small"
            )

    def within(self, model: ModelConfig) -> Detection:
        assert isinstance(model, Detector)
        return replace(self, side=self.side or model.reader.side)

    def open(self, folder: Path, say: Say) -> DetectionTask:
        return DetectionTask(self, folder, say)

    def tool(self, model: Any, tokenizer: Any, run: Run) -> PictureDetector:
        return PictureDetector(model, read_labels(run.path), self.sizing)

    @property
    def sizing(self) -> Sizing:
        assert self.side is not None
        return Sizing(self.side, self.fit)

    def evaluate(self, asked: Evaluation) -> Scores:
        detector: PictureDetector = asked.tool(self)
        examples = list(asked.examples(self.valid))
        check_classes(examples, detector.names, "test")

        def work(done: Done) -> Scores:
            held = [HeldPicture.of(one, detector) for one in examples]
            return judged(detector, held, asked.batch or BATCH, done).scores

        return asked.measured("pictures", len(examples), work, "pictures read", len(examples))


def check_classes(examples: Sequence[BoxedPicture], names: Sequence[str], which: str) -> None:
    """Name the first thing of a class that a detector does not know."""
    known = set(names)
    for example in examples:
        for number, (name, _) in enumerate(example.boxes):
            if name not in known:
                some = f"{', '.join(names[:LABELS_NAMED])}{', …' if len(names) > LABELS_NAMED else ''}"
                raise DataError(
                    f"{example.place(number)}: a {which} picture has the class {name!r}, which no training picture "
                    f"has: there are {some}"
                )


@dataclass(frozen=True)
class HeldPicture:
    """One by which a detector is judged, in the size that it reads, with the shape it had and its boxes in that."""

    pixels: Pixels
    shape: tuple[int, ...]
    right: Labelled

    @classmethod
    def of(cls, example: BoxedPicture, detector: PictureDetector) -> HeldPicture:
        pixels = example.picture.pixels()
        classes = np.array([detector.names.index(name) for name, _ in example.boxes], np.int64)
        return cls(detector.sizing(pixels), pixels.shape, (classes, boxes_in(example, pixels.shape)))


@dataclass(frozen=True)
class Judged:
    """What a detector found in pictures, and how good that is."""

    found: list[Found]
    scores: BoxScores


def judged(
    detector: PictureDetector, held: Sequence[HeldPicture], batch: int = BATCH, done: Done | None = None
) -> Judged:
    """In one pass of the model: the answers of its last layer, and the loss of all."""
    model, sizing = detector.model, detector.sizing

    @torch.no_grad()
    def judge(numbers: Sequence[int]) -> list[tuple[Found, float]]:
        some = [held[number] for number in numbers]
        answers = model.answers(detector.batch([one.pixels for one in some]))
        places = [(one.right[0], placed(one.right[1], one.shape, sizing.side, sizing.fit)) for one in some]
        loss = float(model.loss(answers, things_of(places, sizing.side, detector.device)))
        return [(found, loss) for found in detector.told(answers[-1], [one.shape for one in some])]

    numbers = range(len(held))
    every = detector.in_order([numbers[start : start + batch] for start in range(0, len(held), batch)], judge, done)
    found, loss = [one for one, _ in every], float(np.mean([one for _, one in every]))
    return Judged(found, box_scores(detector.names, [one.right for one in held], found, loss))


def things_of(places: Sequence[Labelled], side: int, device: torch.device) -> Things:
    """Of classes and boxes in pixels of pictures of this side."""
    rows = [(classes, centred(torch.as_tensor(boxes / side)).numpy()) for classes, boxes in places]
    return Things.of(rows, device)


class DetectionTask(Task[Detection]):
    """A row has the values of a picture and, as bytes, the class and the box of each thing in it."""

    def prepare(self, say: Say) -> None:
        config, folder = self.config, self.run.path
        self.valid = list(config.valid.open())  # at once: that a file is missing is said before the rest takes its time
        if not (folder / LABELS).exists():
            names = {name for example in config.train.open() for name, _ in example.boxes}
            if not names:
                raise DataError("there is no box in any of the training pictures")
            write_labels(folder, names)
        self.names = read_labels(folder)
        check_classes(self.valid, self.names, "validation")
        sizing, marks = config.sizing, Marks(self.names, config.sizing)
        made = f"{sizing.side} pixels, {sizing.fit}"
        self.store = pictured(folder / TOKENS, config.train.open(), marks.read, marks, BYTES, made, say)
        self.held: list[HeldPicture] = []

    def fit(self, model: ModelConfig) -> ModelConfig:
        """With a query for each thing of the fullest training picture, at least."""
        assert isinstance(model, Detector)
        most = int(self.store.lengths(1).max()) // BYTES_A_BOX
        decided = {"labels": len(self.names), "reader.side": self.config.side}
        return change(model, {**decided, "queries.count": max(model.queries.count, most)})

    def batches(self, budget: int, seed: int) -> Batches:
        """Of so many pictures."""
        return Batches([np.ones(len(self.store), np.int32)], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over boxes, times the pictures of the batch."""
        side, augment = self.config.sizing.side, self.config.augment
        pixels = list(as_batch(self.store.rows(0, indices), side))
        things = [from_bytes(row) for row in self.store.rows(1, indices)]
        if augment is not None:
            random = np.random.default_rng(int(torch.randint(1 << 31, ())))  # resumed with torch's own state
            every = [augmented(one, *boxes, augment, random) for one, boxes in zip(pixels, things, strict=True)]
            pixels, things = [one for one, *_ in every], [(classes, boxes) for _, classes, boxes in every]
        assert isinstance(model, DetectorModel)
        device = next(model.parameters()).device
        pictures = scaled(np.stack(pixels), model.reader.config.pixels, device)
        return model(pictures, things=things_of(things, side, device)) * len(indices), len(indices)

    def judged(self, model: Model) -> Judged:
        detector = self.tool(model)
        self.held = self.held or [HeldPicture.of(one, detector) for one in self.valid]
        return judged(detector, self.held)

    def validate(self, model: Model) -> Validation:
        found, detector = self.judged(model), self.tool(model)
        samples = [
            sample(
                example.picture.name,
                ", ".join(sorted(thing.label for thing in detector.things(one, THRESHOLD))),
                ", ".join(sorted(name for name, _ in example.boxes)),
            )
            for example, one in zip(self.valid[:SAMPLES], found.found, strict=False)
        ]
        return Validation(found.scores.metrics(), samples)

    def tool(self, model: Model) -> PictureDetector:
        return PictureDetector(cast(DetectorModel, model), self.names, self.config.sizing)

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        scores = self.judged(model).scores
        return [Section("Average precision", [Table(["class", "AP", "AP50", "AP75", "boxes"], scores.rows())])]


class Marks:
    """What a store keeps of pictures with boxes. A picture's boxes are placed once its shape is known, and it is read
    only once."""

    def __init__(self, names: Sequence[str], sizing: Sizing) -> None:
        self.numbers = {name: number for number, name in enumerate(names)}
        self.sizing = sizing
        self.shapes: dict[int, tuple[int, ...]] = {}

    def read(self, picture: Picture) -> Pixels:
        pixels = picture.pixels()
        self.shapes[id(picture)] = pixels.shape
        return self.sizing(pixels)

    def __call__(self, part: Sequence[BoxedPicture]) -> list[tuple[Any, ...]]:
        found = []
        for example in part:
            shape = self.shapes.pop(id(example.picture))
            classes = np.array([self.numbers[name] for name, _ in example.boxes])
            boxes = placed(boxes_in(example, shape), shape, self.sizing.side, self.sizing.fit)
            found.append((as_bytes(classes, boxes),))
        return found
