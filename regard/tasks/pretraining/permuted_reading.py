"""Texts as a permuted language model reads them: segment by segment, each behind a memory of the ones before."""

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
from regard.models import TwoStreamModel
from regard.models.encoder import own_segments
from regard.models.padding import padded
from regard.nn.call.past import Past
from regard.tasks.pretraining.masking import IGNORED
from regard.tasks.pretraining.passages import TEXT_FRAME, Row, Rows, sentences, texts_of
from regard.tasks.pretraining.permuting import Permuting

SEED = 1  # of what is predicted where it is measured: the same at every step and in every run
ROWS = 32  # that are measured at once
SAMPLES = 5
AROUND = 12  # tokens to either side of a sample's place
LEAST = 2  # tokens of a text: one alone has nothing that it could be told from


@dataclass(frozen=True)
class Predicted:
    """What one segment asks: states (N, D), the tokens (N,) that they are to tell, and all tokens (B, T)."""

    states: Tensor
    targets: Tensor
    tokens: Tensor
    places: Tensor  # (N, 2): row and column of each


class HowToPermute(Protocol):
    """What the task says of its rows and of what is predicted in them."""

    @property
    def context(self) -> int: ...

    @property
    def parts(self) -> int: ...

    @property
    def memory(self) -> int: ...

    @property
    def share(self) -> int: ...

    @property
    def span(self) -> int: ...


class PermutedReader:
    """Makes rows of texts, and of rows what the model predicts: as the task says, with its tokenizer."""

    def __init__(self, config: HowToPermute, tokenizer: Tokenizer) -> None:
        self.config, self.tokenizer = config, tokenizer
        self.permuting = Permuting(tokenizer, config.share, config.span)

    @property
    def room(self) -> int:
        """Tokens of a text that are read one after the other."""
        return self.config.context * self.config.parts - TEXT_FRAME

    @property
    def rowing(self) -> Rowing:
        """How a store is made of sentences."""
        return Rowing(self.rows, 1, self.tokenizer.vocabulary, f"{self.room} tokens of a text")

    def rows(self, shard: TokenShard) -> Sequence[Sequence[Row]]:
        """Each text alone, in parts where it is longer than all segments together. At the end of a shard a row ends,
        wherever it is."""
        wholes = [np.concatenate(text) for text in texts_of(shard, self.room) if text]
        parts = [whole[start : start + self.room] for whole in wholes for start in range(0, len(whole), self.room)]
        return [(part,) for part in parts if len(part) >= LEAST]

    def passages(self, documents: Iterable[Document]) -> Iterator[Sequence[Row]]:
        """The rows of texts, one shard in memory at a time."""
        for shard in encoded(self.tokenizer, shards(sentences(documents)), workers=1):
            yield from self.rows(shard)

    def predict(
        self, model: TwoStreamModel, rows: Sequence[Row], generator: torch.Generator | None = None
    ) -> Iterator[Predicted]:
        """Segment by segment; a row that has ended leaves the batch, and its memory with it."""
        device = next(model.parameters()).device
        past = Past(self.config.memory) if self.config.memory else None
        left = [self.tokenizer.framed(row) for row in rows]
        for start in range(0, max(map(len, left)), self.config.context):
            going = [i for i, row in enumerate(left) if len(row) > start]
            if past is not None and start and len(going) < len(left):
                past.select(torch.tensor(going, device=device))
            left = [left[i] for i in going]
            tokens, keep = padded([row[start : start + self.config.context] for row in left], torch.device("cpu"))
            drawn = self.permuting(tokens, keep, generator).to(device)
            tokens, keep = tokens.to(device), None if keep is None else keep.to(device)
            segments = own_segments(model, self.tokenizer, tokens)
            states = model.predict(tokens, drawn.visible, drawn.places, keep, segments, past)
            real = drawn.targets != IGNORED
            where = torch.stack([real.nonzero()[:, 0], drawn.places[real]], 1)
            yield Predicted(states[real], drawn.targets[real], tokens, where)

    @torch.no_grad()
    def measure(
        self, model: TwoStreamModel, held: Rows, chosen: np.ndarray[Any, Any]
    ) -> tuple[dict[str, float], list[dict[str, str]]]:
        """Metrics by name over the chosen rows, and samples of what was predicted."""
        generator, head = torch.Generator().manual_seed(SEED), model.head
        assert head is not None
        loss, right, words = 0.0, 0, 0
        samples: list[dict[str, str]] = []
        for start in range(0, len(chosen), ROWS):
            for part in self.predict(model, held.rows(0, chosen[start : start + ROWS]), generator):
                if not len(part.targets):
                    continue
                found = head.logits(part.states).argmax(-1)
                loss += float(head.total_loss(part.states, part.targets))
                right += int((found == part.targets).sum())
                words += len(part.targets)
                samples += self.samples(part, found) if len(samples) < SAMPLES else []
        mean = loss / max(words, 1)
        metrics = {"loss": mean, "perplexity": math.exp(min(mean, 700)), "accuracy": right / max(words, 1)}
        return metrics, samples[:SAMPLES]

    def samples(self, part: Predicted, found: Tensor) -> list[dict[str, str]]:
        """Of each row the first place that was asked for, with some words around it."""
        seen: dict[int, dict[str, str]] = {}
        for (row, place), best, right in zip(part.places.tolist(), found.tolist(), part.targets.tolist(), strict=True):
            if row not in seen:
                line = part.tokens[row]
                before, after = line[max(place - AROUND, 0) : place], line[place + 1 : place + 1 + AROUND]
                shown = f"{self.tokenizer.decode(before.tolist())} [?] {self.tokenizer.decode(after.tolist())}"
                named = {"output": self.tokenizer.token(best).strip(), "reference": self.tokenizer.token(right).strip()}
                seen[row] = {"source": " ".join(shown.split()), **named}
        return list(seen.values())
