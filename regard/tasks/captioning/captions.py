"""The captions of pictures as tokens on disk: a row for each picture, in which every caption has its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.pictures.examples import CaptionedPicture
from regard.data.splitting import Row
from regard.data.store import Store
from regard.data.tokenizers import Tokenizer


def short_captions(
    examples: Iterable[CaptionedPicture], tokenizer: Tokenizer, most: int
) -> tuple[list[CaptionedPicture], int]:
    """Pictures with their captions of fewer than `most` tokens, without those that then have none; and how many
    captions were longer."""
    found, longer = [], 0
    for example in examples:
        lengths = map(len, tokenizer.encode(example.captions))
        kept = tuple(text for text, length in zip(example.captions, lengths, strict=True) if 0 < length < most)
        longer += len(example.captions) - len(kept)
        if kept:
            found.append(CaptionedPicture(example.picture, kept, example.where))
    return found, longer


def caption_row(tokenizer: Tokenizer, captions: Sequence[str]) -> list[int]:
    return [token for tokens in tokenizer.encode(captions) for token in (*tokens, tokenizer.end)]


class Captions:
    """Of a store of such rows: how many captions each picture has (`counts`), and the most tokens that one of them has,
    the end included (`longest`)."""

    def __init__(self, store: Store, end: int) -> None:
        self.store, self.end = store, end
        lengths = store.lengths(0)
        begins = np.cumsum(lengths, dtype=np.int64) - lengths
        ends = np.flatnonzero(store.stream(0) == end)
        of_each = np.diff(ends, prepend=-1)
        firsts = np.searchsorted(ends, begins)  # the first caption of each picture
        self.counts: NDArray[np.int64] = np.diff(firsts, append=len(ends))
        self.longest: NDArray[np.int64] = np.maximum.reduceat(of_each, firsts)

    def of(self, indices: NDArray[np.integer[Any]]) -> list[list[Row]]:
        """The captions of these pictures, without their ends."""
        rows = self.store.rows(0, indices)
        whole = [np.split(row, np.flatnonzero(row == self.end) + 1)[:-1] for row in rows]
        return [[caption[:-1] for caption in captions] for captions in whole]
