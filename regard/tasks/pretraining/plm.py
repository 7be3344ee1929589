"""Pre-training by permuted texts: texts in, a model to begin from out. XLNet's way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.config import ConfigError, Count, Size, change
from regard.data.batches import Batches
from regard.data.corpus import Rowing
from regard.data.shards import TokenShard
from regard.data.tokenizers import Kind, Tokenizer
from regard.models import Model, ModelConfig, TwoStream, TwoStreamModel
from regard.models.encoder import own_segments
from regard.models.padding import padded
from regard.nn.call.past import Past
from regard.tasks.base import Say, usual
from regard.tasks.pretraining.hiding import Hidden, HiddenWords, HiddenWordsTask, HidingReader
from regard.tasks.pretraining.masking import IGNORED
from regard.tasks.pretraining.passages import TEXT_FRAME, Row, Rows, texts_of
from regard.tasks.pretraining.permuting import Permuting
from regard.tasks.tuning import longest_of

LEAST = 2  # tokens of a text: one alone has nothing that it could be told from


@dataclass(frozen=True)
class PermutedWords(HiddenWords, kind="plm"):
    """Predict tokens from some of the others, in an order that is drawn: the permutation language model of XLNet.

    One token of `share` is predicted, in spans of at most `span`, anew each time. A text is read in segments of
    `context` tokens, at most `parts` of them one after the other, each of which sees the last `memory` tokens of those
    before it.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"loss": False, "perplexity": False, "accuracy": True}
    preset: ClassVar[str] = "xlnet-mini"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=1e-3, weight_decay=0.01, warmup=200, decay=0.5)
    special: ClassVar[Mapping[str, bool]] = {"mask": True, "closes": True}
    finding = "What it expects at a place"

    tokenizer: Kind = "unigram"
    lower: bool = False
    parts: Size = 2
    memory: Count = 128
    share: Size = 6
    span: Size = 5

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

    def reader(self, tokenizer: Tokenizer) -> PermutedReader:
        permuting = Permuting(tokenizer, self.share, self.span)
        return PermutedReader(tokenizer, self.context, self.parts, self.memory, permuting)


class PermutedReader(HidingReader[TwoStreamModel]):
    """Reads texts segment by segment, each behind a memory of the ones before."""

    sign = "[?]"

    def __init__(self, tokenizer: Tokenizer, context: int, parts: int, memory: int, permuting: Permuting) -> None:
        self.tokenizer, self.context, self.memory, self.permuting = tokenizer, context, memory, permuting
        self.room = context * parts - TEXT_FRAME  # tokens of a text that are read one after the other

    @property
    def rowing(self) -> Rowing:
        return Rowing(self.rows, 1, self.tokenizer.vocabulary, f"{self.room} tokens of a text")

    def rows(self, shard: TokenShard) -> Sequence[Sequence[Row]]:
        """Each text alone, in parts where it is longer than all segments together."""
        wholes = [np.concatenate(text) for text in texts_of(shard, self.room) if text]
        parts = [whole[start : start + self.room] for whole in wholes for start in range(0, len(whole), self.room)]
        return [(part,) for part in parts if len(part) >= LEAST]

    def ask(
        self,
        model: TwoStreamModel,
        held: Rows,
        indices: np.ndarray[Any, Any],
        generator: torch.Generator | None = None,
    ) -> Iterator[Hidden]:
        return self.predict(model, held.rows(0, indices), generator)

    def predict(
        self, model: TwoStreamModel, rows: Sequence[Row], generator: torch.Generator | None = None
    ) -> Iterator[Hidden]:
        """Segment by segment; a row that has ended leaves the batch, and its memory with it."""
        device = next(model.parameters()).device
        past = Past(self.memory) if self.memory else None
        left = [self.tokenizer.framed(row) for row in rows]
        for start in range(0, max(map(len, left)), self.context):
            going = [i for i, row in enumerate(left) if len(row) > start]
            if past is not None and start and len(going) < len(left):
                past.select(torch.tensor(going, device=device))
            left = [left[i] for i in going]
            tokens, keep = padded([row[start : start + self.context] for row in left], torch.device("cpu"))
            drawn = self.permuting(tokens, keep, generator).to(device)
            tokens, keep = tokens.to(device), None if keep is None else keep.to(device)
            segments = own_segments(model, self.tokenizer, tokens)
            states = model.predict(tokens, drawn.visible, drawn.places, keep, segments, past)
            real = drawn.targets != IGNORED
            where = torch.stack([real.nonzero()[:, 0], drawn.places[real]], 1)
            yield Hidden(states[real], drawn.targets[real], tokens, where)


class PermutedWordsTask(HiddenWordsTask[PermutedWords]):
    """What is predicted, and in which order, is drawn when texts are read."""

    reader: PermutedReader

    def fit(self, model: ModelConfig) -> ModelConfig:
        longest = longest_of(model)
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
        parts = list(self.reader.predict(streams, rows))
        states, targets = torch.cat([part.states for part in parts]), torch.cat([part.targets for part in parts])
        count = sum(len(row) + TEXT_FRAME for row in rows)
        return streams.head(states, targets) / max(len(targets), 1) * count, count
