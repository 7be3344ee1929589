"""Pre-training of encoders by masked words: texts in, a model to begin from out. BERT's way and RoBERTa's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.checkpoint import Run, load_both
from regard.config import ConfigError, Rate, Size
from regard.data.batches import Batches
from regard.data.documents import Document
from regard.data.examples import TextData, held_apart
from regard.data.text import Texts, sampled
from regard.fast import for_use
from regard.models import Encoder, EncoderModel, Model, ModelConfig, TwoStream
from regard.nn.embeddings import TokenEmbedding
from regard.nn.pooling import FirstToken
from regard.page.records import Section, Table
from regard.results import Scores
from regard.tasks.base import Evaluation, Say, Task, TaskConfig, TokenTask, Validation, task_of, usual
from regard.tasks.plain_text import hidden_words, passage_stores
from regard.tasks.pretraining.filling import MaskFiller
from regard.tasks.pretraining.masked_reading import MaskedReader
from regard.tasks.pretraining.masking import IGNORED
from regard.tasks.pretraining.passages import PAIR_FRAME, TEXT_FRAME, InMemory, Pairs, Rows
from regard.tasks.pretraining.plm import PermutedWords


@dataclass(frozen=True)
class MaskedWords(TokenTask, kind="mlm"):
    """Find the words that are hidden in a text, from those on both sides: the masked language model of BERT.

    15% of the tokens are chosen, anew each time; `whole_words` chooses all pieces of a word together. Full sentences
    are packed up to `context` tokens, specials included, as RoBERTa does. With `next_sentence` the model reads pairs of
    passages too, and tells whether the second followed the first. Validation hides the same tokens each time, in
    `validated` passages; without a text of its own, it is given the last tenth of the training text.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        "loss": False,
        "perplexity": False,
        "accuracy": True,
        "next_sentence": True,
    }
    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    preset: ClassVar[str] = "bert-modern"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, warmup=100, decay=0.7)

    train: TextData = TextData()
    valid: TextData = TextData()
    context: Size = 128
    chance: Rate = 0.15
    whole_words: bool = False
    next_sentence: bool = False
    short: Rate = 0.1
    validated: Size = 256

    def check(self) -> None:
        least = PAIR_FRAME + 2
        if self.context < least:
            raise ConfigError(f"a context of {self.context} holds no text; it takes at least {least} tokens")
        if self.chance == 0:
            raise ConfigError("a chance of 0 hides nothing, so there is nothing to learn")

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Encoder) or isinstance(model, TwoStream) or model.head is None:
            raise ConfigError(f"model: one of kind {model.kind} finds no hidden words; take an encoder with a head")
        segments = isinstance(model.embedding, TokenEmbedding) and model.embedding.segments
        if self.next_sentence and segments < 2:
            raise ConfigError("next_sentence takes a model with two segments, such as --preset bert-modern")

    def open(self, folder: Path, say: Say) -> MaskedWordsTask:
        return MaskedWordsTask(self, folder, say)

    def load(self, run: Run) -> MaskFiller:
        """The best weights of the run, ready to use."""
        model, tokenizer = load_both(run)
        return MaskFiller(cast(EncoderModel, for_use(model)), tokenizer)

    def evaluate(self, asked: Evaluation) -> Scores:
        return hidden_words(self, asked)

    def scores(self, filler: MaskFiller, texts: Iterable[Document]) -> dict[str, float]:
        """Metrics over hidden words of some texts, and how many passages and tokens these are; nothing of no text."""
        reader = MaskedReader(self, filler.tokenizer)
        held = InMemory(list(reader.passages(texts)))
        if not len(held):
            return {}
        pairs = Pairs(held, "test") if self.next_sentence else None
        metrics, _ = reader.measure(filler.model, held, pairs, np.arange(len(held)))
        return {**metrics, "passages": len(held), "tokens": held.tokens}


class MaskedWordsTask(Task[MaskedWords]):
    """Tokens on disk beside the run; what is hidden, and which passages meet, is drawn when they are read."""

    def prepare(self, say: Say) -> None:
        config = self.config
        self.metrics = {
            name: up for name, up in config.metrics.items() if config.next_sentence or name != "next_sentence"
        }
        train, valid = held_apart(config.train, config.valid, say)
        self.tokenizer = self.learn_tokenizer(
            lambda: Texts(sampled(train, config.tokenizer)), say, lower=config.lower, mask=True
        )
        self.reader = MaskedReader(config, self.tokenizer)
        self.store, self.valid = passage_stores(self.run.path, train, valid, self.tokenizer, self.reader.rowing, say)
        both: tuple[tuple[str, Rows], ...] = (("training", self.store), ("validation", self.valid))
        self.pairs = {which: Pairs(rows, which) if config.next_sentence else None for which, rows in both}
        say(f"{self.store.tokens(0):,} tokens of training text in {len(self.store):,} passages")

    def fit(self, model: ModelConfig) -> ModelConfig:
        """With its vocabulary; a pooled vector is learnt by the next-sentence task alone, and left out without it."""
        assert isinstance(model, Encoder)
        with torch.device("meta"):
            longest = model.build().longest
        if longest is not None and longest < self.config.context:
            raise ConfigError(
                f"a context of {self.config.context} is more than the {longest} places of the model: "
                f"take --context {longest}, or another --length for its positions"
            )
        asked = self.config.next_sentence
        pool = (model.pool or FirstToken()) if asked else None
        return replace(model, vocabulary=self.tokenizer.vocabulary, pool=pool, relation=asked)

    def batches(self, budget: int, seed: int) -> Batches:
        frame = PAIR_FRAME if self.config.next_sentence else TEXT_FRAME
        return Batches([self.store.lengths(0) + frame], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over hidden words, and that over pairs; times the tokens, by which the trainer divides."""
        encoder = cast(EncoderModel, model)
        batch = self.reader.read(self.store, self.pairs["training"], indices, next(model.parameters()).device)
        memory = encoder.encode(batch.tokens, batch.keep, batch.segments)
        hidden, found = batch.targets != IGNORED, encoder.head
        assert found is not None
        loss = found.total_loss(memory.states[hidden], batch.targets[hidden]) / hidden.sum().clamp(min=1)
        if batch.relations is not None:
            loss = loss + F.cross_entropy(encoder.follows(memory).float(), batch.relations)
        count = int(batch.tokens.numel() if batch.keep is None else batch.keep.sum())
        return loss * count, count

    def validate(self, model: Model) -> Validation:
        chosen = np.linspace(0, len(self.valid) - 1, min(self.config.validated, len(self.valid))).astype(np.int64)
        encoder = cast(EncoderModel, model)
        return Validation(*self.reader.measure(encoder, self.valid, self.pairs["validation"], chosen))

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        rows = [[one["source"], one["output"], one["reference"]] for one in self.validate(model).samples]
        return [Section("What it finds behind a mask", [Table(["text", "found", "was"], rows)])]


def load_filler(folder: str | Path) -> MaskFiller:
    """What fills in masked words, of a run folder that learnt it by masks or by permuted texts; others are refused."""
    run = Run(folder)
    task = task_of(run, TaskConfig, "find masked words")
    if isinstance(task, PermutedWords):
        return task.load(run)
    return task_of(run, MaskedWords, "find masked words").load(run)
