"""English-French sentences from a bilingual grammar, with gold words, word alignments and part-of-speech tags.

    for pair in phrasebook("train", count=100_000, seed=0): ...

A sentence is derived once and written in both languages, so the two sides say the same and each word knows its
counterpart. An English sentence has one French translation. Splits:

- "train", "valid", "test": one distribution, kept apart by a hash of the English text, whatever the seed and count;
- "long": every sentence is longer on both sides than any of these, up to 60 words;
- "recombined": every sentence has an adjective with a noun, or a verb with an object, that the others never combine,
  though they have both words.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count as count_from
from itertools import islice
from zlib import crc32

from regard.config import nearest
from regard.data.pairs import Pair
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.finish import english_side, finished
from regard.data.sources.phrasebook.sentences import long_sentence, sentence
from regard.errors import Error

LANGUAGES = ("en", "fr")
SPLITS = ("train", "valid", "test", "long", "recombined")
SHORTEST, LONGEST, LONGEST_OF_ALL = 3, 25, 60

# Shares of the English texts by hash: one in sixteen each for valid and test.
_PARTS = {0: "valid", 1: "test"}
_SHARES = 16


def part_of(source: str) -> str:
    """Which of "train", "valid" and "test" an English sentence belongs to, for ever."""
    return _PARTS.get(crc32(source.encode()) % _SHARES, "train")


def phrasebook(split: str = "train", count: int | None = None, seed: int = 0) -> Iterator[Pair]:
    """Pairs of a split, without end if no count is given; the same seed gives the same pairs."""
    if split not in SPLITS:
        raise Error(f"unknown split {split!r}: {nearest(split, SPLITS)}")
    if count is not None and count < 0:
        raise Error(f"count {count} is negative")
    return islice(_pairs(split, seed), count)


def _pairs(split: str, seed: int) -> Iterator[Pair]:
    draw = Draw(random.Random(f"phrasebook {split} {seed}"), recombining=split == "recombined")
    make = long_sentence if split == "long" else sentence
    for _ in count_from():
        # Some sentences are bare and some are full of adjectives, places and times: a broad range of lengths.
        draw.start(1.6 if split == "long" else 0.15 + 1.5 * draw.random())
        clause = make(draw)
        source = english_side(clause.en)
        if split in _PARTS.values() or split == "train":
            if part_of(source[0]) != split:
                continue
        elif split == "recombined" and not draw.used_held_out:
            continue
        pair = finished(source, clause)
        shorter, longer = sorted((len(pair.source_words), len(pair.target_words)))
        low, high = (LONGEST + 1, LONGEST_OF_ALL) if split == "long" else (SHORTEST, LONGEST)
        if low <= shorter and longer <= high:
            yield pair
