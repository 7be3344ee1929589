"""What an encoder reads while it is pre-trained: full sentences up to its context, or pairs of passages.

Texts are kept apart: each file or record is one, and inside of a plain text an empty line begins another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.files import DataError
from regard.data.sentences import sentence_spans
from regard.data.text import Document
from regard.data.tokenizers import Tokenizer

CHUNK = 10_000  # sentences that are tokenized together
PAIR_FRAME, TEXT_FRAME = 3, 2  # special tokens around two texts, and around one

Row = NDArray[np.integer[Any]]
Chunk = tuple[list[int], list[int], list[int]]  # tokens, where its sentences end, and whether it begins a text


class Rows(Protocol):
    """Rows of numbers, some sides of them: a store on disk, or lists in memory."""

    def __len__(self) -> int: ...

    def rows(self, side: int, indices: Any) -> Sequence[Row]: ...


@dataclass(frozen=True)
class InMemory:
    """The rows of a validation text."""

    found: Sequence[Sequence[Sequence[int]]]

    def __len__(self) -> int:
        return len(self.found)

    def rows(self, side: int, indices: Any) -> list[Row]:
        return [np.array(self.found[int(i)][side], dtype=np.int64) for i in indices]


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


def tokens_of(tokenizer: Tokenizer, documents: Iterable[Document], longest: int) -> Iterator[list[list[int]]]:
    """The sentences of each text as tokens; one of more than `longest` tokens is read in parts. No text is empty."""
    text: list[list[int]] = []
    rest = sentences(documents)
    while chunk := list(itertools.islice(rest, CHUNK)):
        rows = iter(tokenizer.encode([sentence for sentence in chunk if sentence is not None]))
        for sentence in chunk:
            if sentence is not None:
                row = next(rows)
                text += [row[start : start + longest] for start in range(0, len(row), longest)]
            elif text:
                yield text
                text = []
    if text:
        yield text


def packed(texts: Iterable[Sequence[Sequence[int]]], room: int, end: int) -> Iterator[tuple[list[int]]]:
    """RoBERTa's full sentences: as many whole ones as fit, across texts, with `end` between two texts."""
    row: list[int] = []
    for text in texts:
        if row and len(row) < room:
            row.append(end)
        for sentence in text:
            if len(row) + len(sentence) > room:
                yield (row,)
                row = []
            row = [*row, *sentence]
    if row:
        yield (row,)


def chunks(texts: Iterable[Sequence[Sequence[int]]], room: int, short: float) -> Iterator[Chunk]:
    """Whole sentences of one text that fit together; a `short` share of the chunks stops sooner, at any length, so that
    short inputs are learnt too. One token alone makes no pair and is left out."""
    draw = np.random.default_rng(0)
    for text in texts:
        left, begins = list(text), True
        while left:
            target = int(draw.integers(2, room + 1)) if room > 2 and draw.random() < short else room
            row, ends = list(left.pop(0)), []
            ends.append(len(row))
            while left and len(row) + len(left[0]) <= target:
                row += left.pop(0)
                ends.append(len(row))
            if len(row) > 1:
                yield row, ends, [int(begins)]
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
        begins = [bool(row[0]) for row in chunks.rows(2, np.arange(len(chunks)))]
        self.texts = np.cumsum(begins) - 1
        self.bounds = np.flatnonzero([*begins, True])  # where each text begins, and the end
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


def joined(tokenizer: Tokenizer, first: Iterable[int], second: Iterable[int], segmented: bool) -> tuple[Row, Row]:
    """Two texts as an encoder reads them, and the segment of each token.

    `[CLS] a [SEP] b [SEP]`, where the second and its end are segment 1. A model without segments has all 0, and two
    ends between the texts, as RoBERTa does.
    """
    ahead = [tokenizer.start, *first, tokenizer.end]
    behind = [*([] if segmented else [tokenizer.end]), *second, tokenizer.end]
    segments = np.repeat([0, int(segmented)], [len(ahead), len(behind)])
    return np.array([*ahead, *behind]), segments
