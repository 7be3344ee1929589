"""Pre-training by permuted texts: texts in, a model to begin from out. XLNet's way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.checkpoint import Run, load_both
from regard.config import ConfigError, Count, Size, change
from regard.data.batches import Batches
from regard.data.documents import Document
from regard.data.examples import TextData, held_apart
from regard.data.text import Texts, sampled
from regard.data.tokenizers import Kind
from regard.fast import for_use
from regard.models import Model, ModelConfig, TwoStream, TwoStreamModel
from regard.page.records import Section, Table
from regard.results import Scores
from regard.tasks.base import Evaluation, Say, Task, TaskConfig, Validation, usual
from regard.tasks.plain_text import hidden_words, passage_stores
from regard.tasks.pretraining.filling import MaskFiller
from regard.tasks.pretraining.passages import TEXT_FRAME, InMemory
from regard.tasks.pretraining.permuted_reading import PermutedReader


@dataclass(frozen=True)
class PermutedWords(TaskConfig, kind="plm"):
    """Predict tokens from some of the others, in an order that is drawn: the permutation language model of XLNet.

    One token of `share` is predicted, in spans of at most `span`, anew each time. A text is read in segments of
    `context` tokens, at most `parts` of them one after the other, each of which sees the last `memory` tokens of those
    before it. Validation predicts the same tokens each time, in `validated` texts; without a text of its own, it
    is given the last tenth of the training text.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"loss": False, "perplexity": False, "accuracy": True}
    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    preset: ClassVar[str] = "xlnet-mini"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=1e-3, weight_decay=0.01, warmup=200, decay=0.5)

    train: TextData = TextData()
    valid: TextData = TextData()
    tokenizer: Kind = "unigram"
    pieces: Size | None = None
    lower: bool = False
    context: Size = 128
    parts: Size = 2
    memory: Count = 128
    share: Size = 6
    span: Size = 5
    validated: Size = 256

    def check(self) -> None:
        if self.context < TEXT_FRAME + 2:
            raise ConfigError(f"a context of {self.context} holds no text; it takes at least {TEXT_FRAME + 2} tokens")
        if self.share < 2:
            raise ConfigError(
                "a share of 1 predicts every token, and none is left to predict them from; take 2 or more"
            )

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, TwoStream) or model.head is None:
            raise ConfigError(
                f"model: one of kind {model.kind} has no two streams that could predict tokens in any order; take "
                "--preset xlnet-mini"
            )

    def open(self, folder: Path, say: Say) -> PermutedWordsTask:
        return PermutedWordsTask(self, folder, say)

    def load(self, run: Run) -> MaskFiller:
        """The best weights of the run, ready to use: what is asked for, is predicted from all that is not."""
        model, tokenizer = load_both(run)
        return MaskFiller(cast(TwoStreamModel, for_use(model)), tokenizer)

    def evaluate(self, asked: Evaluation) -> Scores:
        return hidden_words(self, asked)

    def scores(self, filler: MaskFiller, texts: Iterable[Document]) -> dict[str, float]:
        """Metrics over predicted tokens of texts, and how many passages and tokens these are; nothing of no text."""
        reader = PermutedReader(self, filler.tokenizer)
        held = InMemory(list(reader.passages(texts)))
        if not len(held):
            return {}
        metrics, _ = reader.measure(cast(TwoStreamModel, filler.model), held, np.arange(len(held)))
        return {**metrics, "passages": len(held), "tokens": held.tokens}


class PermutedWordsTask(Task[PermutedWords]):
    """Tokens on disk beside the run; what is predicted, and in which order, is drawn when they are read."""

    def prepare(self, say: Say) -> None:
        config = self.config
        train, valid = held_apart(config.train, config.valid, say)
        self.tokenizer = self.learn_tokenizer(
            lambda: Texts(sampled(train, config.tokenizer)), say, lower=config.lower, mask=True, closes=True
        )
        self.reader = PermutedReader(config, self.tokenizer)
        self.store, self.valid = passage_stores(self.run.path, train, valid, self.tokenizer, self.reader.rowing, say)
        say(f"{self.store.tokens(0):,} tokens of training text in {len(self.store):,} parts")

    def fit(self, model: ModelConfig) -> ModelConfig:
        with torch.device("meta"):
            longest = model.build().longest
        if longest is not None and longest < self.config.context + self.config.memory:
            raise ConfigError(
                f"a context of {self.config.context} behind a memory of {self.config.memory} is more than the "
                f"{longest} places of the model: lower --context or --memory, or take --position transformer-xl"
            )
        return change(model, {"vocabulary": self.tokenizer.vocabulary})

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.store.lengths(0) + TEXT_FRAME], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over what is predicted, times the tokens, by which the trainer divides."""
        streams = cast(TwoStreamModel, model)
        assert streams.head is not None
        rows = self.store.rows(0, indices)
        parts = [(part.states, part.targets) for part in self.reader.predict(streams, rows)]
        states, targets = torch.cat([one for one, _ in parts]), torch.cat([one for _, one in parts])
        count = sum(len(row) + TEXT_FRAME for row in rows)
        return streams.head(states, targets) / max(len(targets), 1) * count, count

    def validate(self, model: Model) -> Validation:
        chosen = np.linspace(0, len(self.valid) - 1, min(self.config.validated, len(self.valid))).astype(np.int64)
        return Validation(*self.reader.measure(cast(TwoStreamModel, model), self.valid, chosen))

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        rows = [[one["source"], one["output"], one["reference"]] for one in self.validate(model).samples]
        return [Section("What it expects at a place", [Table(["text", "found", "was"], rows)])]
