"""Texts as a masked language model reads them, with words hidden, and how well it finds those."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from regard.data.corpus import Rowing
from regard.data.documents import Document
from regard.data.encoding import encoded
from regard.data.shards import TokenShard, shards
from regard.data.tokenizers import Tokenizer
from regard.models import EncoderModel
from regard.models.padding import padded
from regard.tasks.pretraining.masking import IGNORED, Masking
from regard.tasks.pretraining.passages import (
    PAIR_FRAME,
    TEXT_FRAME,
    Pairs,
    Row,
    Rows,
    chunks,
    joined,
    packed,
    sentences,
    texts_of,
)

SEED = 1  # of what is hidden where it is measured: the same at every step and in every run
ROWS = 32  # that are measured at once
SAMPLES = 5
AROUND = 12  # tokens to either side of a sample's mask


@dataclass(frozen=True)
class MaskedBatch:
    """A batch as the model reads it: tokens and segments (B, T), which are real, which words it is to find, and for
    each pair 0 where the second followed the first."""

    tokens: Tensor
    keep: Tensor | None
    segments: Tensor | None
    targets: Tensor
    relations: Tensor | None


class HowToMask(Protocol):
    """What the task says of its passages and of what is hidden in them."""

    @property
    def context(self) -> int: ...

    @property
    def chance(self) -> float: ...

    @property
    def whole_words(self) -> bool: ...

    @property
    def next_sentence(self) -> bool: ...

    @property
    def short(self) -> float: ...


class MaskedReader:
    """Makes passages of texts, and of passages what the model reads: as the task says, with its tokenizer."""

    def __init__(self, config: HowToMask, tokenizer: Tokenizer) -> None:
        self.config, self.tokenizer = config, tokenizer
        self.masking = Masking(tokenizer, config.chance, config.whole_words)

    @property
    def rowing(self) -> Rowing:
        """How a store is made of sentences."""
        config = self.config
        made = f"context {config.context}" + (f", pairs, {config.short} short" if config.next_sentence else "")
        limit = max(self.tokenizer.vocabulary, config.context)
        return Rowing(self.rows, 3 if config.next_sentence else 1, limit, made)

    def rows(self, shard: TokenShard) -> Sequence[Sequence[Sequence[int] | Row]]:
        """Packed sentences, or chunks of which pairs are drawn. At the end of a shard a row ends, wherever it is."""
        if self.config.next_sentence:
            room = self.config.context - PAIR_FRAME
            return list(chunks(texts_of(shard, room), room, self.config.short, shard.fresh, shard.number))
        room = self.config.context - TEXT_FRAME
        return list(packed(texts_of(shard, room), room, self.tokenizer.end))

    def passages(self, documents: Iterable[Document]) -> Iterator[Sequence[Sequence[int] | Row]]:
        """The rows of texts, one shard in memory at a time."""
        for shard in encoded(self.tokenizer, shards(sentences(documents)), workers=1):
            yield from self.rows(shard)

    def read(
        self,
        rows: Rows,
        pairs: Pairs | None,
        indices: np.ndarray[Any, Any],
        device: torch.device,
        generator: torch.Generator | None = None,
    ) -> MaskedBatch:
        """Passages with words hidden; pairs are drawn first."""
        segments = relations = None
        if pairs is None:
            texts: list[Row] = [self.tokenizer.framed(row) for row in rows.rows(0, indices)]
        else:
            drawn = pairs.draw(indices, generator)
            both = [joined(self.tokenizer, pair.first, pair.second, segmented=True) for pair in drawn]
            texts = [tokens for tokens, _ in both]
            segments = padded([marks for _, marks in both], device)[0]
            relations = torch.tensor([int(not pair.follows) for pair in drawn], device=device)
        tokens, keep = padded(texts, torch.device("cpu"))
        hidden, targets = self.masking(tokens, keep, generator)
        keep = None if keep is None else keep.to(device)
        return MaskedBatch(hidden.to(device), keep, segments, targets.to(device), relations)

    @torch.no_grad()
    def measure(
        self, encoder: EncoderModel, held: Rows, pairs: Pairs | None, chosen: np.ndarray[Any, Any]
    ) -> tuple[dict[str, float], list[dict[str, str]]]:
        """Metrics by name over the chosen passages, and samples of what was found."""
        device, generator = next(encoder.parameters()).device, torch.Generator().manual_seed(SEED)
        loss, right, words, matched = 0.0, 0, 0, 0
        samples: list[dict[str, str]] = []
        for start in range(0, len(chosen), ROWS):
            batch = self.read(held, pairs, chosen[start : start + ROWS], device, generator)
            memory = encoder.encode(batch.tokens, batch.keep, batch.segments)
            hidden, head = batch.targets != IGNORED, encoder.head
            assert head is not None
            states, targets = memory.states[hidden], batch.targets[hidden]
            if len(targets):
                loss += float(head.total_loss(states, targets))
                right += int((head.logits(states).argmax(-1) == targets).sum())
            words += len(targets)
            if batch.relations is not None:
                matched += int((encoder.follows(memory).argmax(-1) == batch.relations).sum())
            samples += self.samples(encoder, batch, memory.states) if len(samples) < SAMPLES else []
        mean = loss / max(words, 1)
        metrics = {"loss": mean, "perplexity": math.exp(min(mean, 700)), "accuracy": right / max(words, 1)}
        if pairs is not None:
            metrics["next_sentence"] = matched / len(chosen)
        return metrics, samples[:SAMPLES]

    def samples(self, encoder: EncoderModel, batch: MaskedBatch, states: Tensor) -> list[dict[str, str]]:
        """Of each row its first mask, with some words around it."""
        found, head = [], encoder.head
        assert head is not None
        for row, targets, hidden in zip(batch.tokens, batch.targets, states, strict=True):
            masks = ((row == self.tokenizer.mask) & (targets != IGNORED)).nonzero().flatten().tolist()
            if masks:
                place = masks[0]
                best = int(head.logits(hidden[place]).argmax())
                before, after = row[max(place - AROUND, 0) : place], row[place + 1 : place + 1 + AROUND]
                shown = f"{self.tokenizer.decode(before.tolist())} [MASK] {self.tokenizer.decode(after.tolist())}"
                words = {"output": best, "reference": int(targets[place])}
                named = {name: self.tokenizer.token(i).strip() for name, i in words.items()}
                found.append({"source": " ".join(shown.split()), **named})
        return found
