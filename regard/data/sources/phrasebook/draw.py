"""The choices of one derivation: random draws, link keys, and which held-out combinations may be used."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from zlib import crc32

T = TypeVar("T")

HELD_OUT_SHARE = 16  # one lemma pair in this many is kept out of training


def held_out(first: str, second: str) -> bool:
    """Whether a pair of lemmas (adjective and noun, or verb and object) is kept for the split "recombined"."""
    return crc32(f"{first} + {second}".encode()) % HELD_OUT_SHARE == 0


@dataclass(frozen=True)
class Partners(Generic[T]):
    """What may stand beside a word: in every split, and only in "recombined"."""

    kept: tuple[T, ...]
    held: tuple[T, ...]


class Draw:
    """State of one derivation. Rules ask it for choices and keys; it never looks at the sentence."""

    __slots__ = ("random", "recombining", "used_held_out", "richness", "later", "_keys")

    def __init__(self, rng: random.Random, recombining: bool = False) -> None:
        self.random = rng.random
        self.recombining = recombining
        self.start(1.0)

    def start(self, richness: float) -> None:
        """Begin a new sentence; `richness` scales how often rules add what is optional."""
        self.richness = richness
        self.used_held_out = False
        # After the first clause, "it" and "they" speak of something said before, and only rules that know of what
        # may use them.
        self.later = False
        self._keys = 1

    def key(self) -> int:
        """A fresh link key: one bit that no other key of this sentence has."""
        key = self._keys
        self._keys = key << 1
        return key

    def reserve(self, count: int) -> int:
        """The first of `count` fresh keys; the others are its left shifts."""
        key = self._keys
        self._keys = key << count
        return key

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def rich(self, probability: float) -> bool:
        """Whether to add something optional."""
        return self.random() < probability * self.richness

    def partner(self, partners: Partners[T]) -> T:
        """A word that goes with another; a held-out one only when recombining."""
        kept, held = partners.kept, partners.held
        if self.recombining and held and (not kept or self.random() < 0.3):
            self.used_held_out = True
            return held[int(self.random() * len(held))]
        return kept[int(self.random() * len(kept))]
