"""Pairs of sentences: what a translation data set yields, with or without gold annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation; with gold words, alignment and tags where they are known.

    Words are finer than white space ("l'homme" is "l'" and "homme", a full stop is a word). `alignment` links
    (source word, target word), sorted; tags are the universal parts of speech, one a word.
    """

    source: str
    target: str
    source_words: tuple[str, ...] = ()
    target_words: tuple[str, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    source_tags: tuple[str, ...] = ()
    target_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class First:
    """At most so many pairs of a source, as often as one iterates."""

    pairs: Iterable[Pair]
    count: int

    def __iter__(self) -> Iterator[Pair]:
        return islice(iter(self.pairs), self.count)

    @property
    def skipped(self) -> int:
        return skipped(self.pairs)


def skipped(pairs: Iterable[Pair]) -> int:
    """How many empty lines the last pass over a source of pairs left out."""
    return int(getattr(pairs, "skipped", 0))


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """The character spans (start, end) of `words`, which occur in `text` in this order; ValueError if one does not."""
    found = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            raise ValueError(f"word {word!r} does not occur in {text!r} after character {end}")
        end = start + len(word)
        found.append((start, end))
    return found
