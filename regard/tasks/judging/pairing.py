"""Pairs of texts: what they are to each other, a label or a score. GLUE's tasks of two sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.checkpoint import LABELS, TOKENS, Run, Scale, load_both, load_tokenizer, read_labels, write_labels
from regard.config import ConfigError, Size, Weight, change
from regard.data.batches import Batches
from regard.data.columns import is_number
from regard.data.examples import JudgedData
from regard.data.files import DataError
from regard.data.judged import JudgedPair
from regard.data.labelled import Labelled
from regard.data.store import HEADER, Store, write_store
from regard.data.tokenizers import Kind, Tokenizer
from regard.fast import for_use
from regard.metrics.correlation import correlations, matthews
from regard.metrics.labels import accuracy, label_scores, macro_f1
from regard.models import Classifier, ClassifierModel, Model, ModelConfig, TextLabeller, TextReaderConfig
from regard.nn.agreement import label_loss, score_loss
from regard.page.records import Section, Table
from regard.tasks.balance import ADVICE, WEIGHED, class_weights, say_unbalanced
from regard.tasks.base import Say, Task, TaskConfig, Validation, task_of
from regard.tasks.judging.pair_judge import FRAME, PairJudge, TextPair, joined_pairs, pair_tokens, read_pairs
from regard.tasks.judging.report import classes, taken
from regard.tasks.judging.text_classifier import find_labels, numbers_of
from regard.tasks.tuning import beginning, check_length, pooling_the_start, usual_dropout, usual_pool

CHUNK = 2_000  # pairs that are tokenized at once
STEPS = 10_000  # between the lowest score and the highest: what is stored of a training pair
MANY = 50  # labels that are all numbers: they are taken for scores that were not called so
SAMPLES, MISTAKES = 5, 8
SHOWN = 160  # letters of a text in a table
OF_LABELS = ("accuracy", "macro_f1", "matthews", "loss")
OF_SCORES = ("pearson", "spearman", "loss")


@dataclass(frozen=True)
class Pairing(TaskConfig, kind="pair"):
    """Tell what two texts are to each other: one of the labels that the training pairs have, or a score.

    Labels are scores where the data set says so, or with `scored`. Pairs of more than `max_length` tokens are cut, the
    longer text first; how many are is said. A batch has at most `batch_texts` pairs. `balanced` weighs each label by
    how rare it is, so that all count alike. With `agreement` each pair is read twice, by other dropout, and what is
    said of it shall agree so strongly (R-Drop): it takes twice as long a step.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys(("accuracy", "macro_f1", "matthews", "pearson", "spearman"), True),
        "loss": False,
    }
    preset: ClassVar[str] = "classifier"
    usual: ClassVar[Mapping[str, Any]] = {
        "batch_tokens": 4096,
        "max_steps": 1500,
        "validate_every": 150,
        "optimiser": {"kind": "adamw", "rate": 2e-3},
        "schedule": {"kind": "stable-decay", "warmup": 50, "decay": 0.9},
        "average": {"kind": "exponential", "decay": 0.99},
    }

    train: JudgedData = JudgedData()
    valid: JudgedData = JudgedData()
    scored: bool | None = None
    tokenizer: Kind = "wordpiece"
    pieces: Size | None = None
    lower: bool = True
    max_length: Size = 256
    batch_texts: Size = 32
    balanced: bool = False
    agreement: Weight = 0.0

    def check(self) -> None:
        if self.max_length <= FRAME + 1:
            raise ConfigError(f"max_length {self.max_length} holds no two texts; it takes at least {FRAME + 2} tokens")

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Classifier):
            raise ConfigError(f"model: one of kind {model.kind} judges no pairs; take one of kind classifier")
        check_length(model, self.max_length)

    def around(self, reader: TextReaderConfig) -> ModelConfig:
        dropout = usual_dropout(reader)
        return Classifier(reader=reader, pool=usual_pool(reader), pooled_dropout=dropout, init=reader.init)

    def beginning(self, reader: TextReaderConfig) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return beginning(reader)

    def open(self, folder: Path, say: Say) -> PairingTask:
        return PairingTask(self, folder, say)

    def load(self, run: Run) -> PairJudge:
        """The best weights of the run, ready to use."""
        model, tokenizer = load_both(run)
        labeller = cast(TextLabeller, for_use(model))
        return PairJudge(labeller, tokenizer, read_labels(run.path), self.max_length, Scale.read(run.path))


class PairingTask:
    """Tokens on disk beside the run: of each pair both texts, and the number of its label or its place on the scale."""

    def __init__(self, config: Pairing, folder: Path, say: Say) -> None:
        self.config, self.run = config, Run(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.valid = list(config.valid.pairs())  # at once: a missing file is named before the rest takes its time
        if not (folder / LABELS).exists():
            self.find_labels(folder)
        self.labels, self.scale = read_labels(folder), Scale.read(folder)
        self.metrics = {name: config.metrics[name] for name in (OF_SCORES if self.scale else OF_LABELS)}
        self.right = self.targets(self.valid, "validation")
        if self.scale is None:
            say_unbalanced([pair.label for pair in self.valid], "validation pairs", ADVICE, say)
        elif config.balanced:
            raise ConfigError("balanced: pairs with a score have no labels to weigh; leave it out")
        if not self.run.tokenizer_path.exists():
            say("training the tokenizer")
            texts = _Texts(config.train.pairs())
            Tokenizer.train(texts, config.tokenizer, config.pieces, say, config.lower).save(self.run.tokenizer_path)
        self.tokenizer = load_tokenizer(self.run)
        if not (folder / TOKENS / HEADER).exists():
            say("tokenizing")
            self.write_tokens(folder / TOKENS, say)
        self.store = Store.open(folder / TOKENS)
        self.weights = self.label_weights(say)
        self.valid_rows, _ = pair_tokens(self.tokenizer, texts_of(self.valid), config.max_length - FRAME)

    def find_labels(self, folder: Path) -> None:
        """The names of the training pairs' labels, or of the one score, with its scale."""
        pairs = list(self.config.train.pairs())
        if not pairs:
            raise DataError("there are no training pairs")
        scored = pairs[0].scored if self.config.scored is None else self.config.scored
        if scored:
            scores = [pair.score for pair in pairs]
            if min(scores) == max(scores):
                raise DataError(f"all training pairs have the score {scores[0]:g}: there is nothing to learn")
            Scale(min(scores), max(scores)).write(folder)
            write_labels(folder, ["score"])
            return
        names = find_labels(as_labelled(pairs))
        if len(names) > MANY and all(is_number(name) for name in names):
            raise DataError(f"the training pairs have {len(names)} labels, all of them numbers: are they --scored?")
        write_labels(folder, names)

    def targets(self, pairs: Sequence[JudgedPair], which: str) -> np.ndarray[Any, Any]:
        """The number of each pair's label, or its score from 0 to 1."""
        if self.scale is not None:
            return self.scale.inside(np.array([pair.score for pair in pairs], dtype=np.float64))
        return np.array(numbers_of(as_labelled(pairs), self.labels, which), dtype=np.int64)

    def write_tokens(self, folder: Path, say: Say) -> None:
        cut = 0

        def rows() -> Iterable[tuple[Sequence[int], ...]]:
            nonlocal cut
            stream = iter(self.config.train.pairs())
            while chunk := list(itertools.islice(stream, CHUNK)):
                tokens, some = pair_tokens(self.tokenizer, texts_of(chunk), self.config.max_length - FRAME)
                cut += some
                targets = self.targets(chunk, "training")
                marks = np.rint(targets * STEPS).astype(np.int64) if self.scale else targets
                yield from ((*row, (int(mark),)) for row, mark in zip(tokens, marks, strict=True))

        size = max(self.tokenizer.vocabulary, len(self.labels), STEPS + 1)
        store = write_store(folder, rows(), size, sides=3, fingerprint=self.tokenizer.fingerprint)
        if cut:
            say(
                f"{cut:,} of {len(store):,} training pairs have more than {self.config.max_length:,} tokens and are cut"
            )

    def numbers(self) -> Tensor:
        if self.scale is not None:
            raise ConfigError("initial.head_first: pairs with a score have no labels to tell apart; leave it out")
        return torch.tensor([int(mark[0]) for mark in self.store.rows(2, np.arange(len(self.store)))])

    def vectors(self, model: ClassifierModel, indices: np.ndarray[Any, Any]) -> Tensor:
        rows = list(zip(*(self.store.rows(side, indices) for side in range(2)), strict=True))
        return model.pooled(*joined_pairs(model, self.tokenizer, rows))

    def label_weights(self, say: Say) -> Tensor | None:
        """Of a balanced training; of another it is said where its labels are far from even."""
        if self.scale is not None:
            return None
        given = self.numbers()
        if self.config.balanced:
            return class_weights(given, len(self.labels))
        say_unbalanced([self.labels[i] for i in given.tolist()], "training pairs", WEIGHED, say)
        return None

    def fit(self, model: ModelConfig) -> ModelConfig:
        fitted = change(model, {"vocabulary": self.tokenizer.vocabulary, "labels": len(self.labels)})
        return pooling_the_start(fitted, self.tokenizer)

    def batches(self, budget: int, seed: int) -> Batches:
        lengths = self.store.lengths(0) + self.store.lengths(1) + FRAME
        return Batches([lengths], budget, seed, self.config.batch_texts)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over the pairs, times their tokens, by which the trainer divides."""
        firsts, seconds, marks = (self.store.rows(side, indices) for side in range(3))
        rows = list(zip(firsts, seconds, strict=True))
        agreement = self.config.agreement
        read = rows * 2 if agreement else rows
        found = read_pairs(cast(TextLabeller, model), self.tokenizer, read).float()  # type: ignore[arg-type]
        right = torch.tensor([int(mark[0]) for mark in marks], device=found.device)
        weights = None if self.weights is None else self.weights.to(found.device)
        if self.scale is not None:
            loss = score_loss(found[:, 0], right / STEPS, agreement)
        else:
            loss = label_loss(found, right, weights, agreement)
        count = sum(len(first) + len(second) for first, second in rows) + FRAME * len(rows)
        return loss * count, count

    def validate(self, model: Model) -> Validation:
        verdicts = self.judge(model).judge_tokens(self.valid_rows)
        said = [self.said(verdict) for verdict in verdicts]
        samples = [
            {
                "source": written(pair),
                "output": one,
                "reference": pair.label,
                "first": pair.first,
                "second": pair.second,
            }
            for pair, one in zip(self.valid[:SAMPLES], said, strict=False)
        ]
        return Validation(self.scores(verdicts), samples)

    def scores(self, verdicts: np.ndarray[Any, Any]) -> dict[str, float]:
        if self.scale is not None:
            gold = np.array([pair.score for pair in self.valid])
            errors = self.scale.inside(verdicts[:, 0].astype(np.float64)) - self.right
            loss = float((errors**2).mean())
            return {**correlations(gold, verdicts[:, 0]), "loss": loss}
        labels, found = [pair.label for pair in self.valid], [self.labels[i] for i in verdicts.argmax(1)]
        chosen = verdicts[np.arange(len(self.right)), self.right]
        return {
            "accuracy": accuracy(labels, found),
            "macro_f1": macro_f1(labels, found),
            "matthews": matthews(labels, found),
            "loss": float(-np.log(np.maximum(chosen, 1e-30)).mean()),
        }

    def said(self, verdict: np.ndarray[Any, Any]) -> str:
        return f"{verdict[0]:.2f}" if self.scale else self.labels[int(verdict.argmax())]

    def judge(self, model: Model) -> PairJudge:
        labeller = cast(TextLabeller, model)
        return PairJudge(labeller, self.tokenizer, self.labels, self.config.max_length, self.scale)

    def probes(self, model: Model) -> list[bytes]:
        return []

    def findings(self, model: Model) -> dict[str, Any]:
        return {}

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        verdicts = self.judge(model).judge_tokens(self.valid_rows)
        if self.scale is not None:
            wrong = np.abs(verdicts[:, 0] - np.array([pair.score for pair in self.valid]))
            return [Section("The largest errors", [self.mistakes(np.argsort(-wrong, kind="stable"), verdicts)])]
        gold, found = [pair.label for pair in self.valid], [self.labels[i] for i in verdicts.argmax(1)]
        scores = label_scores(gold, found)
        order = [i for i in np.argsort(-verdicts.max(1), kind="stable") if found[i] != gold[i]]
        return [
            Section("Each label", [classes(scores)]),
            Section("What was taken for what", [taken(gold, found, scores)]),
            Section("The surest mistakes", [self.mistakes(order, verdicts)]),
        ]

    def mistakes(self, order: Iterable[int], verdicts: np.ndarray[Any, Any]) -> Table:
        rows = [
            [self.valid[i].first[:SHOWN], self.valid[i].second[:SHOWN], self.said(verdicts[i]), self.valid[i].label]
            for i in itertools.islice(order, MISTAKES)
        ]
        return Table(["first", "second", "found", "right"], rows, empty="There is none.")


def load_judge(folder: str | Path) -> PairJudge:
    """The judge of a run folder; a run of another task is refused."""
    run = Run(folder)
    return task_of(run, Pairing, "judge pairs").load(run)


def texts_of(pairs: Iterable[JudgedPair]) -> list[TextPair]:
    return [(pair.first, pair.second) for pair in pairs]


def as_labelled(pairs: Iterable[JudgedPair]) -> list[Labelled]:
    """As if each were one text: what is said about labels holds for both."""
    return [Labelled(pair.first, pair.label, pair.where) for pair in pairs]


def written(pair: JudgedPair) -> str:
    return f"{pair.first[:SHOWN]} | {pair.second[:SHOWN]}"


@dataclass(frozen=True)
class _Texts:
    """Both texts of each pair, as often as one iterates."""

    pairs: Iterable[JudgedPair]

    def __iter__(self) -> Iterator[str]:
        return (text for pair in self.pairs for text in (pair.first, pair.second))


def _keeps_the_contract(task: PairingTask) -> Task:
    return task
