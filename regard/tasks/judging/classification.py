"""Classification: labelled texts in, a classifier out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.checkpoint import LABELS, TOKENS, Run, load_both, load_tokenizer, read_labels, write_labels
from regard.config import ConfigError, Rate, Size, Weight, change
from regard.data.batches import Batches
from regard.data.examples import LabelledData
from regard.data.labelled import Labelled
from regard.data.pairs import skipped
from regard.data.store import HEADER, Store, write_store
from regard.data.tokenizers import Kind, Tokenizer
from regard.fast import for_use
from regard.metrics.correlation import matthews
from regard.metrics.labels import accuracy, macro_f1
from regard.models import (
    Classifier,
    ClassifierModel,
    LabellerConfig,
    Model,
    ModelConfig,
    TextLabeller,
    TextReaderConfig,
)
from regard.models.encoder import own_segments
from regard.nn.agreement import label_loss
from regard.page.records import Section
from regard.tasks.balance import ADVICE, WEIGHED, class_weights, say_unbalanced
from regard.tasks.base import Say, Task, TaskConfig, Validation, task_of
from regard.tasks.judging.report import report
from regard.tasks.judging.text_classifier import (
    TextClassifier,
    find_labels,
    judged,
    numbers_of,
    read_rows,
)
from regard.tasks.tuning import beginning, check_length, pooling_the_start, usual_dropout, usual_pool
from regard.tasks.vectors.embedding import FRAME
from regard.tasks.writing.translator import padded

CHUNK = 2_000  # texts that are tokenized at once
SAMPLES = 5
SHOWN = 240  # letters of a text in a sample; short ones are chosen, if there are any


@dataclass(frozen=True)
class Classification(TaskConfig, kind="classify"):
    """Give texts one of the labels that the training texts have.

    A text of more than `max_length` tokens is read up to its last sentence that ends before, and how many are is said.
    A batch has at most `batch_texts`. `balanced` weighs each class by how rare it is, so that all count alike. `forget`
    is the chance with which a word is taken for an unknown one while training, so that no verdict hangs on one word.
    A `framed` text stands between the tokenizer's start and end, as encoders that begin from another run read it, and
    is cut after `max_length` tokens; others are read sentence by sentence. With `agreement` each text is read twice, by
    other dropout, and what is said of it shall agree so strongly (R-Drop): it takes twice as long a step.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"accuracy": True, "macro_f1": True, "matthews": True, "loss": False}
    preset: ClassVar[str] = "classifier"
    usual: ClassVar[Mapping[str, Any]] = {
        "batch_tokens": 8192,
        "max_steps": 1500,
        "validate_every": 150,
        "patience": 4,
        "optimiser": {"kind": "adamw", "rate": 2e-3},
        "schedule": {"kind": "stable-decay", "warmup": 50, "decay": 0.9},
        "average": {"kind": "exponential", "decay": 0.99},
    }

    train: LabelledData = LabelledData()
    valid: LabelledData = LabelledData()
    tokenizer: Kind = "word"
    pieces: Size | None = None
    lower: bool = True
    max_length: Size = 1000
    batch_texts: Size = 64
    balanced: bool = False
    forget: Rate = 0.0
    framed: bool = False
    agreement: Weight = 0.0

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, LabellerConfig):
            raise ConfigError(f"model: one of kind {model.kind} gives a text no label; take one of kind classifier")
        check_length(model, self.max_length, FRAME if self.framed else 0)

    def around(self, reader: TextReaderConfig) -> ModelConfig:
        dropout = usual_dropout(reader)
        return Classifier(reader=reader, pool=usual_pool(reader), pooled_dropout=dropout, init=reader.init)

    def beginning(self, reader: TextReaderConfig) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        task, training = beginning(reader)
        return ({**task, "framed": True, "batch_texts": 32}, training) if task else ({}, {})

    def open(self, folder: Path, say: Say) -> ClassificationTask:
        return ClassificationTask(self, folder, say)

    def load(self, run: Run) -> TextClassifier:
        """The best weights of the run, ready to use."""
        model, tokenizer = load_both(run)
        labeller = cast(TextLabeller, for_use(model))
        return TextClassifier(labeller, tokenizer, read_labels(run.path), self.max_length, self.framed)


class ClassificationTask:
    """Tokens on disk beside the run, so that a resumed run reads nothing again; a row has its label as another side."""

    def __init__(self, config: Classification, folder: Path, say: Say) -> None:
        self.config, self.metrics, self.run = config, config.metrics, Run(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tokens = folder / TOKENS
        valid = config.valid.texts()  # at once: that a file is missing is said before the tokenizer takes its time
        if not (folder / LABELS).exists():
            write_labels(folder, find_labels(config.train.texts()))
        self.labels = read_labels(folder)
        self.valid = list(valid)
        self.right = numbers_of(self.valid, self.labels, "validation")
        say_unbalanced([example.label for example in self.valid], "validation texts", ADVICE, say)
        say_skipped(valid, "validation", say)
        if not self.run.tokenizer_path.exists():
            say("training the tokenizer")
            texts = _Texts(config.train.texts())
            Tokenizer.train(texts, config.tokenizer, config.pieces, say, config.lower).save(self.run.tokenizer_path)
        self.tokenizer = load_tokenizer(self.run)
        if not (tokens / HEADER).exists():
            say("tokenizing")
            self.write_tokens(tokens, say)
        self.store = Store.open(tokens)
        self.train_labels = torch.from_numpy(np.array([int(row[0]) for row in self.rows(1, range(len(self.store)))]))
        self.weights = class_weights(self.train_labels, len(self.labels)) if config.balanced else None
        if not config.balanced:
            say_unbalanced([self.labels[i] for i in self.train_labels.tolist()], "training texts", WEIGHED, say)
        self.valid_rows: list[list[int]] | None = None
        short = [i for i, example in enumerate(self.valid) if len(example.text) <= SHOWN]
        self.shown = [*short, *range(len(self.valid))][:SAMPLES]

    def rows(self, side: int, indices: Sequence[int] | np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        return list(self.store.rows(side, np.asarray(indices, dtype=np.int64)))

    def write_tokens(self, folder: Path, say: Say) -> None:
        cut, texts = 0, self.config.train.texts()

        def rows() -> Iterable[tuple[Sequence[int], ...]]:
            nonlocal cut
            stream = iter(texts)
            while chunk := list(itertools.islice(stream, CHUNK)):
                numbers = numbers_of(chunk, self.labels, "training")
                found, some = read_rows(
                    self.tokenizer, [example.text for example in chunk], self.config.max_length, self.config.framed
                )
                cut += some
                yield from ((row, (number,)) for row, number in zip(found, numbers, strict=True))

        size = max(self.tokenizer.vocabulary, len(self.labels))
        store = write_store(folder, rows(), size, fingerprint=self.tokenizer.fingerprint)
        say_skipped(texts, "training", say)
        if cut:
            long = f"have more than {self.config.max_length:,} tokens"
            say(f"{cut:,} of {len(store):,} training texts {long} and are read up to there (max_length)")

    def fit(self, model: ModelConfig) -> ModelConfig:
        fitted = change(model, {"vocabulary": self.tokenizer.vocabulary, "labels": len(self.labels)})
        return pooling_the_start(fitted, self.tokenizer)

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.store.lengths(0)], budget, seed, self.config.batch_texts)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over the texts, times their tokens: a long text counts as much as a short one, and the trainer,
        which divides by tokens, still tells how many are read a second."""
        device = next(model.parameters()).device
        tokens, keep = padded(self.rows(0, indices), device)
        if self.config.forget:
            tokens = self.forgotten(tokens)
        right = self.train_labels[torch.from_numpy(np.asarray(indices))].to(device)
        weights = None if self.weights is None else self.weights.to(device)
        count = int(tokens.numel() if keep is None else keep.sum())
        if self.config.agreement:
            tokens, keep = tokens.repeat(2, 1), None if keep is None else keep.repeat(2, 1)
        logits = judged(cast(TextLabeller, model), self.tokenizer, tokens, keep)
        loss = label_loss(logits.float(), right, weights, self.config.agreement)
        return loss * count, count

    def numbers(self) -> Tensor:
        return self.train_labels

    def vectors(self, model: ClassifierModel, indices: np.ndarray[Any, Any]) -> Tensor:
        tokens, keep = padded(self.rows(0, indices), next(model.parameters()).device)
        return model.pooled(tokens, keep, own_segments(model, self.tokenizer, tokens))

    def forgotten(self, tokens: Tensor) -> Tensor:
        """With some words unknown; the specials stay what they are."""
        if self.tokenizer.unknown is None:
            raise ConfigError("forget: the tokenizer has no unknown token to take words for; leave it out")
        lost = torch.rand(tokens.shape) < self.config.forget  # on the CPU, whose random state is resumed
        special = torch.isin(tokens, torch.tensor(sorted(self.tokenizer.specials), device=tokens.device))
        return tokens.masked_fill(lost.to(tokens.device) & ~special, self.tokenizer.unknown)

    def validate(self, model: Model) -> Validation:
        probabilities = self.judged(model)
        right, found = [one.label for one in self.valid], [self.labels[i] for i in probabilities.argmax(1)]
        chosen = probabilities[np.arange(len(self.right)), self.right]
        loss = float(-np.log(np.maximum(chosen, 1e-30)).mean())
        samples = [
            {"source": shortened(self.valid[i].text), "output": found[i], "reference": self.valid[i].label}
            for i in self.shown
        ]
        metrics = {"accuracy": accuracy(right, found), "macro_f1": macro_f1(right, found)}
        return Validation({**metrics, "matthews": matthews(right, found), "loss": loss}, samples)

    def judged(self, model: Model) -> np.ndarray[Any, Any]:
        """(validation texts, labels)."""
        classifier = self.classifier(model)
        if self.valid_rows is None:
            self.valid_rows, _ = classifier.rows([example.text for example in self.valid])
        return classifier.judge(self.valid_rows)

    def classifier(self, model: Model) -> TextClassifier:
        most, framed = self.config.max_length, self.config.framed
        return TextClassifier(cast(TextLabeller, model), self.tokenizer, self.labels, most, framed)

    def probes(self, model: Model) -> list[bytes]:
        return []

    def findings(self, model: Model) -> dict[str, Any]:
        return {}

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        return report(self.classifier(model), self.valid, self.judged(model))


def load_classifier(folder: str | Path) -> TextClassifier:
    """The classifier of a run folder; a run of another task is refused."""
    run = Run(folder)
    return task_of(run, Classification, "classify").load(run)


@dataclass(frozen=True)
class _Texts:
    """The texts of labelled ones, as often as one iterates."""

    examples: Iterable[Labelled]

    def __iter__(self) -> Iterator[str]:
        return (example.text for example in self.examples)


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def say_skipped(examples: Iterable[Labelled], which: str, say: Say) -> None:
    if count := skipped(examples):
        say(f"{count:,} empty lines of the {which} texts were skipped")


def _keeps_the_contract(task: ClassificationTask) -> Task:
    return task
