"""Judging what is read: the judging tasks whose examples are texts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from regard.config import ConfigError, Rate, Size, change
from regard.data.batches import Batches
from regard.data.pairs import TextsOf, say_skipped
from regard.data.store import Store
from regard.data.tokenizers import Tokenizer
from regard.models import Model, ModelConfig, TextLabeller
from regard.runfolder import Run
from regard.sides import TextSide
from regard.sides.base import Batch, Row
from regard.tasks.base import Say, TokenTask, usual
from regard.tasks.judging.judge import Judge
from regard.tasks.judging.judging import Judging, JudgingTask
from regard.tasks.tuning import OnReader, pooling_the_start

EXAMPLES_A_CHUNK = 2_000  # examples that are tokenized at once


@dataclass(frozen=True)
class TextJudging(Judging, OnReader, TokenTask):
    """A batch has at most `batch_texts` examples. `forget` is the chance with which a word is taken for an unknown one
    while training, so that no verdict hangs on one word."""

    preset: ClassVar[str] = "classifier"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=2e-3, warmup=50, max_steps=1500, validate_every=150)
    source: ClassVar[type[TextSide[Any]]]

    batch_texts: Size = 32
    forget: Rate = 0.0

    def open(self, folder: Any, say: Say) -> TextJudgingTask:
        return TextJudgingTask(self, folder, say)

    def tool(self, model: TextLabeller, tokenizer: Tokenizer, run: Run) -> Judge[Any]:
        source, outcome = self.reads(tokenizer), self.outcome(run.path)
        source.longest = min(source.longest, model.longest or source.longest)
        outcome.read(run)
        return self.judge(model, source, outcome)

    def reads(self, tokenizer: Tokenizer) -> TextSide[Any]:
        """What goes in, as this task reads it."""
        return self.source(tokenizer, self.max_length)


class TextJudgingTask(JudgingTask[TextJudging]):
    """Texts as tokens."""

    source: TextSide[Any]

    def learn(self, say: Say) -> None:
        self.tokenizer = self.learn_tokenizer(self.texts, say, lower=self.config.lower)
        self.source = self.config.reads(self.tokenizer)

    def texts(self) -> Iterable[str]:
        """Of the training examples."""
        source = self.config.source
        return TextsOf(self.config.train.open(), lambda example: source.texts(source.of(example)))

    def write(self, say: Say) -> Store:
        limit = max(self.tokenizer.vocabulary, self.outcome.limit)
        return self.stored(lambda: self.rows_of(say), self.source.columns + 1, limit, say)

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
        fitted = change(super().fit(model), {"vocabulary": self.tokenizer.vocabulary})
        return pooling_the_start(fitted, self.tokenizer)

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.source.size(self.lengths())], budget, seed, self.config.batch_texts)

    def learning(self, model: Model, rows: Sequence[Any]) -> Batch:
        tokens, *others = self.source.batch(rows, model)
        return (self.forgotten(tokens) if self.config.forget else tokens, *others)

    def forgotten(self, tokens: Tensor) -> Tensor:
        """With some words unknown; the specials stay what they are."""
        if self.tokenizer.unknown is None:
            raise ConfigError("forget: the tokenizer has no unknown token to take words for; leave it out")
        lost = torch.rand(tokens.shape) < self.config.forget  # on the CPU, whose random state is resumed
        special = torch.isin(tokens, torch.tensor(sorted(self.tokenizer.specials), device=tokens.device))
        return tokens.masked_fill(lost.to(tokens.device) & ~special, self.tokenizer.unknown)
