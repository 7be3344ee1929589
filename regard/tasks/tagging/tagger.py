"""A trained tagger: text in, words with their tags out. It needs no training data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.given import is_blank, one_or_several, several
from regard.data.spelt import Spelt, Words, spelt
from regard.data.tagged import words_in
from regard.data.tokenizers import Tokenizer
from regard.look.subject import Subject
from regard.metrics.entities import entities_in, scheme_of
from regard.models import TokenLabeller
from regard.models.encoder import own_segments
from regard.models.padding import padded
from regard.results import Result
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool, logits_of

FRAME = 2  # the start and the end around a sentence


@dataclass(frozen=True)
class TaggedWords(Result):
    """The words of a sentence with their tags, which mark entities or not."""

    words: list[str]
    tags: list[str]
    marked: bool = False

    def line(self, scores: bool = False) -> str:
        return written(self.words, self.tags)

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"words": self.words, "tags": self.tags}
        if self.marked:
            found["entities"] = [
                {"type": one.type, "text": " ".join(self.words[one.start : one.end])}
                | {"start": one.start, "end": one.end}
                for one in entities_in(self.tags)
            ]
        return found


def told(model: TokenLabeller, tokenizer: Tokenizer, tokens: Tensor, keep: Tensor | None) -> Tensor:
    """(B, T, tags): the logits of sentences, with segments where the reader has them for a single text."""
    return logits_of(model, tokens, keep, own_segments(model, tokenizer, tokens))


class WordTagger(Tool):
    """Tags words with a model and its tokenizer: `tagger("The cat sleeps.")` → [("The", "DET"), …].

    A sentence of more than `max_length` tokens is tagged in parts, never cut.
    """

    def __init__(self, model: TokenLabeller, tokenizer: Tokenizer, names: Sequence[str], max_length: int) -> None:
        super().__init__(model, tokenizer)
        self.names = tuple(names)
        self.longest = min(max_length, model.longest or max_length) - FRAME

    @overload
    def __call__(self, texts: str) -> list[tuple[str, str]]: ...

    @overload
    def __call__(self, texts: list[str]) -> list[list[tuple[str, str]]]: ...

    def __call__(self, texts: str | list[str]) -> list[tuple[str, str]] | list[list[tuple[str, str]]]:
        """The words of a text with their tags, or those of each text."""
        sentences = [words_of(text) for text in one_or_several(texts)]
        found = [
            list(zip(words, tags, strict=True)) for words, tags in zip(sentences, self.tags(sentences), strict=True)
        ]
        return found if several(texts) else found[0]

    def results(
        self,
        inputs: Sequence[str | Words],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
    ) -> list[TaggedWords]:
        """Of texts, or of sentences that are split into words."""
        sentences = [words_of(one) if isinstance(one, str) else one for one in inputs]
        marked = scheme_of(self.names) is not None
        tags = self.tags(sentences, batch or 64, done)
        return [TaggedWords(list(words), found, marked) for words, found in zip(sentences, tags, strict=True)]

    def tags(self, sentences: Sequence[Words], batch: int = 64, done: Done | None = None) -> list[list[str]]:
        """The tags of sentences that are split into words; `done` hears how many more are tagged."""
        found = self.scores(sentences, batch, done)
        return [[self.names[i] for i in logits.argmax(-1).tolist()] for logits in found]

    def scores(self, sentences: Sequence[Words], batch: int = 64, done: Done | None = None) -> list[Tensor]:
        """The logits (words, tags) of each sentence, in their order; batches are made by length."""
        parts: list[Spelt] = []
        places: list[slice] = []  # of each sentence among the parts
        for words in sentences:
            before = len(parts)
            parts += self.fitting(words) if words else []
            places.append(slice(before, len(parts)))
        order = sorted(range(len(parts)), key=lambda i: len(parts[i].ids))
        batches = [order[start : start + batch] for start in range(0, len(order), batch)]
        found = self.in_order(batches, lambda chosen: self.part_scores([parts[i] for i in chosen]), done)
        none = np.empty((0, len(self.names)), dtype=np.float32)
        return [torch.from_numpy(np.concatenate([none, *found[place]])) for place in places]

    @torch.no_grad()
    def part_scores(self, parts: Sequence[Spelt]) -> list[NDArray[np.float32]]:
        """The logits (words, tags) of parts that the model can read, each at the first piece of a word."""
        rows, before = [self.tokenizer.framed(part.ids) for part in parts], len(self.tokenizer.around[0])
        logits = told(self.model, self.tokenizer, *padded(rows, self.device)).float().cpu().numpy()
        return [row[np.array(part.firsts) + before] for part, row in zip(parts, logits, strict=True)]

    def subject(self) -> Subject:
        return Subject(self.model, self.tokenizer, labels=self.names, most=self.longest + FRAME, task="tag")

    def fitting(self, words: Words) -> Iterator[Spelt]:
        """A sentence as parts that the model can read: halves, as long as they are too long."""
        pieces = spelt(self.tokenizer, words)
        if len(pieces.ids) <= self.longest:
            yield pieces
        elif len(words) == 1:
            yield Spelt(pieces.ids[: self.longest], pieces.firsts)
        else:
            middle = len(words) // 2
            yield from self.fitting(words[:middle])
            yield from self.fitting(words[middle:])


def written(words: Words, tags: Sequence[str]) -> str:
    """word/TAG, one space apart."""
    return " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))


def words_of(text: str) -> Words:
    """The words of a text; none of one in which there is nothing to read."""
    return [] if is_blank(text) else words_in(text)
