"""Sentences as words, and the pieces that spell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.data.tokenizers import Tokenizer

Words = Sequence[str]


@dataclass(frozen=True)
class Spelt:
    """What a tokenizer makes of a sentence's words: ids, and the place of each word's first one."""

    ids: list[int]
    firsts: list[int]


def spelt(tokenizer: Tokenizer, words: Words) -> Spelt:
    """Words stand one space apart, whatever stood between them: a tagger sees files of words and texts alike."""
    pieces = tokenizer.pieces(" ".join(words))
    ends = np.array([end for _, _, end in pieces])
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    firsts = np.searchsorted(ends, starts, side="right")  # a piece may begin with the space before its word
    return Spelt([i for i, _, _ in pieces], np.minimum(firsts, len(pieces) - 1).tolist())
