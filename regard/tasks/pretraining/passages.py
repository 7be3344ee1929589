"""What an encoder reads while it is pre-trained: full sentences up to its context, or pairs of passages.

Texts are kept apart: each file or record is one, and inside of a plain text an empty line begins another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.documents import Document
from regard.data.sentences import sentence_spans
from regard.data.shards import TokenShard
from regard.errors import DataError

ROWS_AT_ONCE = 1 << 16  # of which it is asked whether they begin a text
PAIR_FRAME, TEXT_FRAME = 3, 2  # special tokens around two texts, and around one

Row = NDArray[np.integer[Any]]
Sentence = Sequence[int] | Row
Chunk = tuple[Row, list[int], list[int]]  # tokens, where its sentences end, and whether it begins a text


class Rows(Protocol):
    """Rows of numbers, some sides of them: a store on disk, or lists in memory."""

    def __len__(self) -> int: ...

    def rows(self, side: int, indices: Any) -> Sequence[Row]: ...


@dataclass(frozen=True)
class InMemory:
    """The rows of a validation text."""

    found: Sequence[Sequence[Sequence[int] | Row]]

    def __len__(self) -> int:
        return len(self.found)

    def rows(self, side: int, indices: Any) -> list[Row]:
        return [np.array(self.found[int(i)][side], dtype=np.int64) for i in indices]

    @property
    def tokens(self) -> int:
        return sum(len(row[0]) for row in self.found)


# --- from texts to rows -----------------------------------------------------------------------------------------------


def sentences(documents: Iterable[Document]) -> Iterator[str | None]:
    """Those of every text, None behind each text. All but the first have a space in front, as in running text."""
    for document in documents:
        first = True
        for line in document:
            if not line.strip():
                yield None
                first = True
            for start, end in sentence_spans(line):
                yield line[start:end] if first else f" {line[start:end]}"
                first = False
        yield None


def texts_of(shard: TokenShard, longest: int) -> list[list[Row]]:
    """The sentences of each text of a shard; one of more than `longest` tokens is read in parts. No text is empty but
    the first, where the shard goes on with a text that had ended."""
    texts: list[list[Row]] = [[]]
    for ids in shard.texts:
        if ids is None:
            texts.append([])
        else:
            texts[-1] += [ids[start : start + longest] for start in range(0, len(ids), longest)]
    return [text for number, text in enumerate(texts) if text or (number == 0 and not shard.fresh)]


def packed(texts: Iterable[Sequence[Sentence]], room: int, end: int) -> Iterator[tuple[Row]]:
    """RoBERTa's full sentences: as many whole ones as fit, across texts, with `end` between two texts."""
    row: list[Sentence] = []
    length = 0
    for text in texts:
        if row and length < room:
            row.append([end])
            length += 1
        for sentence in text:
            if length + len(sentence) > room:
                yield (np.concatenate(row),)
                row, length = [], 0
            row.append(sentence)
            length += len(sentence)
    if row:
        yield (np.concatenate(row),)


def chunks(
    texts: Iterable[Sequence[Sentence]], room: int, short: float, fresh: bool = True, seed: int = 0
) -> Iterator[Chunk]:
    """Whole sentences of one text that fit together; a `short` share of the chunks stops sooner, at any length, so that
    short inputs are learnt too. One token alone makes no pair and is left out. The first text begins here, if it is
    `fresh`."""
    draw = np.random.default_rng(seed)
    for number, text in enumerate(texts):
        begins, place = fresh or number > 0, 0
        while place < len(text):
            target = int(draw.integers(2, room + 1)) if room > 2 and draw.random() < short else room
            first, length = place, len(text[place])
            ends, place = [length], place + 1
            while place < len(text) and length + len(text[place]) <= target:
                length += len(text[place])
                ends.append(length)
                place += 1
            if length > 1:
                yield np.concatenate(text[first:place]), ends, [int(begins)]
                begins = False


# --- pairs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassagePair:
    """Two passages, and whether the second followed the first."""

    first: Row
    second: Row
    follows: bool


class Pairs:
    """Draws pairs from chunks: half of them one chunk in two, the other half with the end of a chunk of another text.

    A chunk is parted between two of its sentences, or in the middle where it has one. The other text's end is as long
    as whole sentences allow, so that neither length nor a cut sentence tells which half a pair is of.
    """

    def __init__(self, chunks: Rows, which: str) -> None:
        self.chunks = chunks
        begins = np.ones(len(chunks) + 1, dtype=bool)
        for start in range(0, len(chunks), ROWS_AT_ONCE):
            some = np.arange(start, min(start + ROWS_AT_ONCE, len(chunks)))
            begins[some] = np.concatenate(chunks.rows(2, some))
        self.texts = np.cumsum(begins[:-1]) - 1
        self.bounds = np.flatnonzero(begins)  # where each text begins, and the end
        if len(self.bounds) <= 2:
            raise DataError(
                f"the {which} text is one: next-sentence prediction takes at least two; put an empty line between "
                "texts, or give a folder of them"
            )

    def draw(self, indices: NDArray[np.int64], generator: torch.Generator | None = None) -> list[PassagePair]:
        """A pair for each of these chunks."""
        draws = torch.rand(len(indices), 3, generator=generator, dtype=torch.float64).tolist()
        return [self.pair(int(i), *draw) for i, draw in zip(indices, draws, strict=True)]

    def pair(self, i: int, coin: float, place: float, other: float) -> PassagePair:
        row, ends = self.chunk(i)
        cut = int(ends[int(place * (len(ends) - 1))]) if len(ends) > 1 else len(row) // 2
        if coin < 0.5:
            return PassagePair(row[:cut], row[cut:], follows=True)
        return PassagePair(row[:cut], self.ending(self.elsewhere(i, other), len(row) - cut), follows=False)

    def elsewhere(self, i: int, draw: float) -> int:
        """A chunk of another text, each as likely."""
        low, high = self.bounds[self.texts[i]], self.bounds[self.texts[i] + 1]
        found = int(draw * (len(self.chunks) - (high - low)))
        return found if found < low else found + int(high - low)

    def ending(self, i: int, room: int) -> Row:
        """The last whole sentences that fit, or the last tokens where not even one does."""
        row, ends = self.chunk(i)
        starts = [0, *ends[:-1].tolist()]
        start = next((start for start in starts if len(row) - start <= room), len(row) - room)
        return row[start:]

    def chunk(self, i: int) -> tuple[Row, Row]:
        row, ends = (self.chunks.rows(side, [i])[0] for side in (0, 1))
        return row, ends
