"""Pre-training of encoders by masked words: texts in, a model to begin from out. BERT's way and RoBERTa's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import ConfigError, Rate
from regard.data.batches import Batches
from regard.data.corpus import Rowing
from regard.data.shards import TokenShard
from regard.data.tokenizers import Tokenizer
from regard.models import Encoder, EncoderModel, Model, ModelConfig, TwoStream
from regard.models.padding import padded
from regard.nn.embeddings import TokenEmbedding
from regard.nn.pooling import FirstToken
from regard.tasks.base import Say, usual
from regard.tasks.pretraining.hiding import Hidden, HiddenWords, HiddenWordsTask, HidingReader
from regard.tasks.pretraining.masking import IGNORED, Masking
from regard.tasks.pretraining.passages import PAIR_FRAME, TEXT_FRAME, Pairs, Row, Rows, chunks, packed, texts_of
from regard.tasks.tuning import check_context


@dataclass(frozen=True)
class MaskedWords(HiddenWords, kind="mlm"):
    """Find the words that are hidden in a text, from those on both sides: the masked language model of BERT.

    15% of the tokens are chosen, anew each time; `whole_words` chooses all pieces of a word together. Full sentences
    are packed up to `context` tokens, specials included, as RoBERTa does. With `next_sentence` the model reads pairs of
    passages too, and tells whether the second followed the first; a `short` share of them is cut anywhere.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        "loss": False,
        "perplexity": False,
        "accuracy": True,
        "next_sentence": True,
    }
    preset: ClassVar[str] = "bert-modern"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, warmup=100, decay=0.7)
    finding = "What it finds behind a mask"

    chance: Rate = 0.15
    whole_words: bool = False
    next_sentence: bool = False
    short: Rate = 0.1

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

    def reader(self, tokenizer: Tokenizer) -> MaskedReader:
        return MaskedReader(tokenizer, self.context, self.chance, self.whole_words, self.next_sentence, self.short)


@dataclass(frozen=True)
class MaskedBatch:
    """A batch as the model reads it: tokens and segments (B, T), which are real, which words it is to find, and for
    each pair 0 where the second followed the first."""

    tokens: Tensor
    keep: Tensor | None
    segments: Tensor | None
    targets: Tensor
    relations: Tensor | None


class MaskedReader(HidingReader[EncoderModel]):
    """Hides tokens of packed sentences, or of pairs that are drawn from chunks."""

    sign = "[MASK]"

    def __init__(
        self, tokenizer: Tokenizer, context: int, chance: float, whole_words: bool, pairs: bool, short: float
    ) -> None:
        self.tokenizer, self.context, self.pairs, self.short = tokenizer, context, pairs, short
        self.masking = Masking(tokenizer, chance, whole_words)

    @property
    def rowing(self) -> Rowing:
        made = f"context {self.context}" + (f", pairs, {self.short} short" if self.pairs else "")
        return Rowing(self.rows, 3 if self.pairs else 1, max(self.tokenizer.vocabulary, self.context), made)

    def rows(self, shard: TokenShard) -> Sequence[Sequence[Sequence[int] | Row]]:
        if self.pairs:
            room = self.context - PAIR_FRAME
            return list(chunks(texts_of(shard, room), room, self.short, shard.fresh, shard.number))
        room = self.context - TEXT_FRAME
        return list(packed(texts_of(shard, room), room, self.tokenizer.end))

    def source(self, rows: Rows, which: str) -> Rows | Pairs:
        return Pairs(rows, which) if self.pairs else rows

    def read(
        self,
        source: Rows | Pairs,
        indices: np.ndarray[Any, Any],
        device: torch.device,
        generator: torch.Generator | None = None,
    ) -> MaskedBatch:
        """Passages with words hidden; pairs are drawn first."""
        segments = relations = None
        if isinstance(source, Pairs):
            drawn = source.draw(indices, generator)
            both = [self.tokenizer.paired(pair.first, pair.second, segmented=True) for pair in drawn]
            texts = [tokens for tokens, _ in both]
            segments = padded([marks for _, marks in both], device)[0]
            relations = torch.tensor([int(not pair.follows) for pair in drawn], device=device)
        else:
            texts = [self.tokenizer.framed(row) for row in source.rows(0, indices)]
        tokens, keep = padded(texts, torch.device("cpu"))
        hidden, targets = self.masking(tokens, keep, generator)
        keep = None if keep is None else keep.to(device)
        return MaskedBatch(hidden.to(device), keep, segments, targets.to(device), relations)

    def ask(
        self,
        model: EncoderModel,
        held: Rows | Pairs,
        indices: np.ndarray[Any, Any],
        generator: torch.Generator | None = None,
    ) -> Iterator[Hidden]:
        batch = self.read(held, indices, next(model.parameters()).device, generator)
        yield asked(model, batch)

    def shows(self, token: Tensor) -> bool:
        return int(token) == self.masking.mask


def asked(model: EncoderModel, batch: MaskedBatch) -> Hidden:
    """What a model makes of the hidden places of a batch."""
    memory = model.encode(batch.tokens, batch.keep, batch.segments)
    hidden = batch.targets != IGNORED
    pairs = None if batch.relations is None else model.follows(memory)
    states, targets = memory.states[hidden], batch.targets[hidden]
    return Hidden(states, targets, batch.tokens, hidden.nonzero(), pairs, batch.relations)


class MaskedWordsTask(HiddenWordsTask[MaskedWords]):
    """What is hidden, and which passages meet, is drawn when they are read."""

    reader: MaskedReader

    def prepare(self, say: Say) -> None:
        super().prepare(say)
        if not self.config.next_sentence:
            self.metrics = {name: up for name, up in self.metrics.items() if name != "next_sentence"}

    def fit(self, model: ModelConfig) -> ModelConfig:
        """With its vocabulary; a pooled vector is learnt by the next-sentence task alone, and left out without it."""
        assert isinstance(model, Encoder)
        check_context(model, self.config.context)
        pairs = self.config.next_sentence
        pool = (model.pool or FirstToken()) if pairs else None
        return replace(model, vocabulary=self.tokenizer.vocabulary, pool=pool, relation=pairs)

    def batches(self, budget: int, seed: int) -> Batches:
        frame = PAIR_FRAME if self.config.next_sentence else TEXT_FRAME
        return Batches([self.store.lengths(0) + frame], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over hidden words, and that over pairs; times the tokens, by which the trainer divides."""
        encoder = cast(EncoderModel, model)
        batch = self.reader.read(self.training, indices, next(model.parameters()).device)
        part, head = asked(encoder, batch), encoder.head
        assert head is not None
        loss = head.total_loss(part.states, part.targets) / (batch.targets != IGNORED).sum().clamp(min=1)
        if part.pairs is not None and part.relations is not None:
            loss = loss + F.cross_entropy(part.pairs.float(), part.relations)
        count = int(batch.tokens.numel() if batch.keep is None else batch.keep.sum())
        return loss * count, count
