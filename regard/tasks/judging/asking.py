"""Questions about pictures: a picture, a question and its answer in, what answers such questions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from regard.config import ConfigError, Size, change
from regard.data.batches import Batches, Indices
from regard.data.examples import AskedData
from regard.data.pairs import TextsOf, say_skipped
from regard.data.pictures.augment import Augment
from regard.data.pictures.examples import Picture, as_picture
from regard.data.pictures.prepare import parts, pictured
from regard.data.pictures.sizing import Fit
from regard.data.store import Store
from regard.data.tokenizers import Kind, Tokenizer
from regard.look.subject import Subject
from regard.models import Asker, InputReaderConfig, Model, ModelConfig, PictureReaderConfig
from regard.runfolder import PICTURES, Run, RunError, read_labels
from regard.sides import FixedAnswer, Label, OnePicture, OutputSide, PictureAndText
from regard.sides.base import Batch
from regard.sides.label import find_labels
from regard.sides.picture_and_text import Asked
from regard.tasks.base import Say, TokenTask, usual
from regard.tasks.judging.judge import Judge
from regard.tasks.judging.judging import Judging, JudgingTask
from regard.tasks.judging.picturing import drawing
from regard.tasks.tuning import longest_of, usual_dropout


class PictureAnswerer(Judge[Asked]):
    """Answers questions about pictures: `answerer("a.jpg", "What colour is the ring?")`. A picture is a file, pixels
    (H, W, 3) from 0 to 255, or what a data set gives."""

    source: PictureAndText
    pictures = True

    def __call__(self, picture: Any, question: Any) -> str | list[str]:
        """The answer to a question, or to each of several about one picture."""
        found = [one.said for one in self.results(self.about(picture, question))]
        return found[0] if isinstance(question, str) else found

    def scores(self, picture: Any, question: Any) -> dict[str, float] | list[dict[str, float]]:
        """The probability of each answer, from the likeliest on."""
        found = [one.found["scores"] for one in self.results(self.about(picture, question))]
        return found[0] if isinstance(question, str) else found

    def about(self, picture: Any, question: Any) -> list[Asked]:
        shown = as_picture(picture)
        return [(shown, one) for one in ([question] if isinstance(question, str) else question)]

    def subject(self) -> Subject:
        raise RunError("what a model attends to in a picture that it is asked about is seen by regard.watch alone yet")


@dataclass(frozen=True)
class Asking(Judging, TokenTask, kind="ask"):
    """Answer questions about pictures, by one of the answers that the training questions have.

    Each picture is brought to `side` pixels a side by its `fit`; unless told, to the side that the model is made for.
    While training it is changed as `augment` says, which mirrors none: left and right may be asked about. Questions of
    more than `max_length` tokens are read up to there. A batch has whole pictures, with all that is asked about each.
    """

    metrics: ClassVar[Mapping[str, bool]] = {**dict.fromkeys(Label.metrics, True), "loss": False}
    usual: ClassVar[Mapping[str, Any]] = usual(
        96, rate=3e-3, weight_decay=0.05, warmup=100, max_steps=5000, validate_every=500, patience=5
    )
    purpose = "answer questions about pictures"
    preset: ClassVar[str] = "asker"
    source = PictureAndText
    judge = PictureAnswerer

    train: AskedData = AskedData()
    valid: AskedData = AskedData()
    tokenizer: Kind = "word"
    max_length: Size = 32
    side: Size | None = None
    fit: Fit = "stretch"
    augment: Augment | None = Augment(flip=0.0)

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Asker):
            raise ConfigError(
                f"model: one of kind {model.kind} answers no questions about pictures; take a preset of one that does, "
                "such as asker, or a reader of pictures for it to look at them"
            )
        most = longest_of(model.question)
        if most is not None and self.max_length > most:
            raise ConfigError(f"max_length {self.max_length}: the model reads questions of at most {most} tokens")

    def around(self, reader: InputReaderConfig) -> ModelConfig:
        from regard.zoo import get

        if not isinstance(reader, PictureReaderConfig):
            raise ConfigError(f"a model of kind {reader.kind} reads no pictures; begin from one that does")
        usual_asker = get(self.preset)
        assert isinstance(usual_asker, Asker)
        return replace(usual_asker, reader=reader, told_dropout=usual_dropout(reader))

    def within(self, model: ModelConfig) -> Asking:
        assert isinstance(model, Asker)
        return replace(self, side=self.side or model.reader.side)

    def open(self, folder: Path, say: Say) -> AskingTask:
        return AskingTask(self, folder, say)

    def tool(self, model: Model, tokenizer: Tokenizer, run: Run) -> PictureAnswerer:
        return PictureAnswerer(cast(Any, model), self.reads(tokenizer), self.outcome(run.path))

    def reads(self, tokenizer: Tokenizer) -> PictureAndText:
        """What goes in, as this task reads it."""
        assert self.side is not None
        return PictureAndText(OnePicture(self.side, self.fit), tokenizer, self.max_length)

    def learn_names(self, examples: Iterable[Any]) -> set[str]:
        return find_labels(examples, called="questions")

    def outcome(self, folder: Path) -> OutputSide:
        return FixedAnswer(read_labels(folder))


class AskingTask(JudgingTask[Asking]):
    """Each picture stands once in a store of its own; a row of the other has the number of the picture, the tokens of
    the question, and the answer."""

    source: PictureAndText
    counted = "questions"

    def learn(self, say: Say) -> None:
        texts = TextsOf(self.config.train.open(), lambda example: [example.question])
        self.tokenizer = self.learn_tokenizer(lambda: texts, say, lower=self.config.lower)
        self.source = self.config.reads(self.tokenizer)

    def write(self, say: Say) -> Store:
        source = self.source
        self.pictures = pictured(
            self.run.path / PICTURES,
            one_of_each(self.config.train.open()),
            source.picture.read,
            lambda part: [()] * len(part),  # no column stands beside a picture
            0,
            f"{source.picture.side} pixels, {source.picture.fit}",
            say,
            sides=1,
        )
        limit = max(self.tokenizer.vocabulary, self.outcome.limit, len(self.pictures))
        store = self.stored(lambda: self.rows_of(say), source.columns + 1, limit, say)
        say(f"{len(store):,} questions about {len(self.pictures):,} pictures")
        return store

    def rows_of(self, say: Say) -> Iterator[tuple[Any, ...]]:
        """Of the training questions."""
        examples, numbers, cut = self.config.train.open(), dict[Picture, int](), 0
        for chunk in parts(examples):
            tokens, some = self.source.tokens([example.question for example in chunk])
            cut += some
            for example, row, mark in zip(chunk, tokens, self.outcome.marks(chunk, "training"), strict=True):
                yield (numbers.setdefault(example.picture, len(numbers)),), row, mark
        say_skipped(examples, "training questions", say)
        if cut:
            say(f"{cut:,} training questions have more than {self.source.longest:,} tokens and are read up to there")

    def fit(self, model: ModelConfig) -> ModelConfig:
        sizes = {"reader.side": self.source.picture.side, "question.vocabulary": self.tokenizer.vocabulary}
        return change(super().fit(model), sizes)

    def batches(self, budget: int, seed: int) -> Batches:
        numbers = np.concatenate(self.store.rows(0, np.arange(len(self.store))))
        return BatchesOfPictures(numbers, budget, seed)

    def rows(self, indices: Indices) -> list[Any]:
        numbers = np.concatenate(self.store.rows(0, indices)).astype(np.int64)
        each, places = np.unique(numbers, return_inverse=True)
        pictures = self.pictures.rows(0, each)
        tokens = self.store.rows(1, indices)
        return [(pictures[place], row) for place, row in zip(places.tolist(), tokens, strict=True)]

    def learning(self, model: Model, rows: Sequence[Any]) -> Batch:
        pixels, which = self.source.pictures(rows)
        if self.config.augment is not None:
            random = drawing()
            pixels = np.stack([self.config.augment(picture, random) for picture in pixels])
        return self.source.asked(pixels, which, rows, model)


class BatchesOfPictures(Batches):
    """Batches of questions by the `numbers` (questions,) of their pictures: those about one picture stay together, so
    that it is read once; where they are more than a batch takes, in as few parts as can be."""

    def __init__(self, numbers: NDArray[Any], budget: int, seed: int) -> None:
        order = np.argsort(numbers, kind="stable")
        starts = np.flatnonzero(np.diff(numbers[order])) + 1
        groups = np.split(order, starts)
        self.groups = [part for group in groups for part in np.array_split(group, -(-len(group) // budget))]
        super().__init__([np.array([len(group) for group in self.groups])], budget, seed)

    def _make(self, n: int) -> list[Indices]:
        return [np.concatenate([self.groups[i] for i in batch]) for batch in super()._make(n)]

    def padding(self, epoch: int = 0) -> float:
        """Questions are counted, which have none."""
        return 0.0


def one_of_each(examples: Iterable[Any]) -> Iterator[Any]:
    """The first example of each picture."""
    seen = set[Picture]()
    for example in examples:
        if example.picture not in seen:
            seen.add(example.picture)
            yield example
