"""Judging: examples with a label, several labels or a score in, a judge of such examples out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.config import ConfigError, Rate, Size, Weight, change
from regard.data.batches import Batches
from regard.data.examples import Examples
from regard.data.pairs import TextsOf, say_skipped
from regard.data.tokenizers import Tokenizer
from regard.models import Classifier, ClassifierModel, Model, ModelConfig, TextLabeller, TextReaderConfig
from regard.page.records import Section
from regard.results import Scores
from regard.runfolder import LABELS, Run, Scale, read_labels, write_labels
from regard.sides import InputSide, Label, OutputSide, Score
from regard.sides.base import Row, Verdicts
from regard.sides.label import ADVICE, say_unbalanced
from regard.tasks.base import Done, Evaluation, Say, Task, TokenTask, Validation, sample, usual
from regard.tasks.judging.judge import Judge, read_rows
from regard.tasks.judging.report import report
from regard.tasks.tool import logits_of
from regard.tasks.tuning import OnReader, pooling_the_start, usual_dropout, usual_pool

EXAMPLES_A_CHUNK = 2_000  # examples that are tokenized at once
SAMPLES = 5
SAMPLE_CHARACTERS = 240  # letters of a text in a sample; examples with shorter texts are chosen, if there are any


@dataclass(frozen=True)
class Judging(OnReader, TokenTask):
    """What the tasks have in common whose model says one thing of each example. A task of this family says what goes in
    (`source`), how what comes out is named (`learn_names` and `outcome`), and the tool that judges (`judge`).

    A batch has at most `batch_texts` examples. `balanced` weighs each label by how rare it is, so that all count alike.
    `forget` is the chance with which a word is taken for an unknown one while training, so that no verdict hangs on one
    word. With `agreement` each example is read twice, by other dropout, and what is said of it shall agree so strongly
    (R-Drop): it takes twice as long a step.
    """

    preset: ClassVar[str] = "classifier"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=2e-3, warmup=50, max_steps=1500, validate_every=150)
    source: ClassVar[type[InputSide[Any]]]
    judge: ClassVar[type[Judge[Any]]]

    train: Examples = Examples()
    valid: Examples = Examples()
    batch_texts: Size = 32
    balanced: bool = False
    forget: Rate = 0.0
    agreement: Weight = 0.0

    def around(self, reader: TextReaderConfig) -> ModelConfig:
        dropout = usual_dropout(reader)
        return Classifier(reader=reader, pool=usual_pool(reader), pooled_dropout=dropout, init=reader.init)

    def open(self, folder: Any, say: Say) -> JudgingTask:
        return JudgingTask(self, folder, say)

    def tool(self, model: TextLabeller, tokenizer: Tokenizer, run: Run) -> Judge[Any]:
        source, outcome = self.reads(tokenizer), self.outcome(run.path)
        source.longest = min(source.longest, model.longest or source.longest)
        outcome.read(run)
        return self.judge(model, source, outcome)

    def reads(self, tokenizer: Tokenizer) -> InputSide[Any]:
        """What goes in, as this task reads it."""
        return self.source(tokenizer, self.max_length)

    def learn_names(self, examples: Iterable[Any]) -> Iterable[str] | Scale:
        """The names of the training examples' labels, or the scale of their scores."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def outcome(self, folder: Any) -> OutputSide:
        """What comes out, as a run folder learnt it."""
        scale = Scale.read(folder)
        return Label(read_labels(folder)) if scale is None else Score(scale)

    def evaluate(self, asked: Evaluation) -> Scores:
        judge: Judge[Any] = asked.tool(self)
        examples, plural = list(asked.examples(self.valid)), self.source.plural
        judge.outcome.marks(examples, "test")  # a label that it cannot give is a mistake in the data

        def work(done: Done) -> Scores:
            verdicts = judge.verdicts([self.source.of(one) for one in examples], asked.batch, asked.say, done)
            return judge.outcome.scores(examples, verdicts, "test", plural)

        return asked.measured(plural, len(examples), work, f"{plural} judged", len(examples))


class JudgingTask(Task[Judging]):
    """A row has the columns of what goes in, and what is right for it as one more."""

    def prepare(self, say: Say) -> None:
        config, folder, plural = self.config, self.run.path, self.config.source.plural
        valid = config.valid.open()  # at once: that a file is missing is said before the tokenizer takes its time
        if not (folder / LABELS).exists():
            found = config.learn_names(config.train.open())
            if isinstance(found, Scale):
                found.write(folder)
            write_labels(folder, Score.names if isinstance(found, Scale) else found)
        self.outcome = config.outcome(folder)
        self.metrics = {name: config.metrics[name] for name in self.outcome.metrics}
        self.valid = list(valid)
        self.outcome.marks(self.valid, "validation")  # before the tokenizer takes its time, too
        if isinstance(self.outcome, Label):
            say_unbalanced([one.label for one in self.valid], f"validation {plural}", ADVICE, say)
        say_skipped(valid, f"validation {plural}", say)
        self.tokenizer = self.learn_tokenizer(self.texts, say, lower=config.lower)
        self.source = config.reads(self.tokenizer)
        limit = max(self.tokenizer.vocabulary, self.outcome.limit)
        self.store = self.stored(lambda: self.rows_of(say), self.source.columns + 1, limit, say)
        self.marks = self.store.rows(self.source.columns, np.arange(len(self.store)))
        self.outcome.learnt(self.marks, config.balanced, f"training {plural}", say)
        self.values = [config.source.of(one) for one in self.valid]
        self.valid_rows: list[Any] | None = None
        longest = [max(map(len, self.source.texts(value))) for value in self.values]
        short = [i for i, length in enumerate(longest) if length <= SAMPLE_CHARACTERS]
        self.shown = [*short, *range(len(self.valid))][:SAMPLES]

    def texts(self) -> Iterable[str]:
        """Of the training examples."""
        source = self.config.source
        return TextsOf(self.config.train.open(), lambda example: source.texts(source.of(example)))

    def rows_of(self, say: Say) -> Iterator[tuple[Row, ...]]:
        """Of the training examples, a chunk at a time."""
        examples, count, cut = self.config.train.open(), 0, 0
        stream = iter(examples)
        while chunk := list(itertools.islice(stream, EXAMPLES_A_CHUNK)):
            rows, some = self.source.rows([self.source.of(one) for one in chunk])
            count, cut = count + len(chunk), cut + some
            for row, mark in zip(rows, self.outcome.marks(chunk, "training"), strict=True):
                yield (*self.source.stored(row), mark)
        plural = f"training {self.source.plural}"
        say_skipped(examples, plural, say)
        if cut:
            long = f"have more than {self.config.max_length:,} tokens"
            say(f"{cut:,} of {count:,} {plural} {long} and are read up to there (max_length)")

    def fit(self, model: ModelConfig) -> ModelConfig:
        fitted = change(model, {"vocabulary": self.tokenizer.vocabulary, "labels": len(self.outcome.names)})
        return pooling_the_start(fitted, self.tokenizer)

    def batches(self, budget: int, seed: int) -> Batches:
        lengths = [self.store.lengths(side) for side in range(self.source.columns)]
        return Batches([self.source.size(lengths)], budget, seed, self.config.batch_texts)

    def rows(self, indices: np.ndarray[Any, Any]) -> list[Any]:
        columns = [self.store.rows(side, indices) for side in range(self.source.columns)]
        return [self.source.restored(row) for row in zip(*columns, strict=True)]

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over the examples, times their tokens: a long example counts as much as a short one, and the
        trainer, which divides by tokens, still tells how many are read a second."""
        rows, agreement = self.rows(indices), self.config.agreement
        tokens, keep, segments = read_rows(model, self.source, rows * 2 if agreement else rows)
        if self.config.forget:
            tokens = self.forgotten(tokens)
        logits = logits_of(model, tokens, keep, segments).float()
        loss = self.outcome.loss(logits, [self.marks[i] for i in indices.tolist()], agreement)
        count = int(tokens.numel() if keep is None else keep.sum()) // (2 if agreement else 1)
        return loss * count, count

    def forgotten(self, tokens: Tensor) -> Tensor:
        """With some words unknown; the specials stay what they are."""
        if self.tokenizer.unknown is None:
            raise ConfigError("forget: the tokenizer has no unknown token to take words for; leave it out")
        lost = torch.rand(tokens.shape) < self.config.forget  # on the CPU, whose random state is resumed
        special = torch.isin(tokens, torch.tensor(sorted(self.tokenizer.specials), device=tokens.device))
        return tokens.masked_fill(lost.to(tokens.device) & ~special, self.tokenizer.unknown)

    def numbers(self) -> Tensor:
        """(examples,): the label of each training example, for `regard.training.heads`."""
        if not isinstance(self.outcome, Label):
            why = f"{self.source.plural} with a score or several labels have no one label to tell apart"
            raise ConfigError(f"initial.head_first: {why}; leave it out")
        return torch.tensor([int(mark[0]) for mark in self.marks])

    def vectors(self, model: ClassifierModel, indices: np.ndarray[Any, Any]) -> Tensor:
        """(N, D): what the output layer takes for these training examples."""
        return model.pooled(*read_rows(model, self.source, self.rows(indices)))

    def validate(self, model: Model) -> Validation:
        verdicts = self.verdicts(model)
        self.outcome.tuned(self.valid, verdicts)
        scores = self.outcome.scores(self.valid, verdicts, "validation", self.source.plural)
        samples = [
            sample(
                self.source.shown(self.values[i], SAMPLE_CHARACTERS),
                self.outcome.said(verdicts[i]),
                self.outcome.right(self.valid[i]),
                **self.source.parts(self.values[i]),
            )
            for i in self.shown
        ]
        return Validation(scores.metrics(), samples)

    def verdicts(self, model: Model) -> Verdicts:
        """(validation examples, width)."""
        if self.valid_rows is None:
            self.valid_rows, _ = self.source.rows(self.values)
        return self.tool(model).judge_rows(self.valid_rows)

    def tool(self, model: Model) -> Judge[Any]:
        return self.config.judge(cast(TextLabeller, model), self.source, self.outcome)

    def findings(self, model: Model) -> dict[str, Any]:
        return dict(self.outcome.tuned(self.valid, self.verdicts(model)))

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        return report(self.tool(model), self.valid, self.verdicts(model))
