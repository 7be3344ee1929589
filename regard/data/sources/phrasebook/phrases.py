"""Fixed phrases with their inner alignment, written as `word/TAG:link` on both sides of an equals sign.

Words with the same link number translate each other; a word without one has no counterpart. The French articles and
prepositions are the words of `words.py`, so that they elide and contract like all others.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.words import DE, LA, LE, LES, NE, QUE, A, Token, Tokens, Word, en, fr

ELIDING = {"le/DET": LE, "la/DET": LA, "les/DET": LES, "de/ADP": DE, "à/ADP": A, "que/SCONJ": QUE, "ne/ADV": NE}


class Phrase(NamedTuple):
    """A phrase in both languages; the numbers are links within it, counted from 1, or 0."""

    en: tuple[Token, ...]
    fr: tuple[Token, ...]
    links: int

    def use(self, draw: Draw) -> tuple[Tokens, Tokens]:
        """The tokens of both sides with fresh keys."""
        first = draw.reserve(self.links)
        return (
            [(word, first << link - 1 if link else 0) for word, link in self.en],
            [(word, first << link - 1 if link else 0) for word, link in self.fr],
        )


def _token(item: str, french: bool) -> Token:
    spelled, _, link = item.partition(":")
    text, _, tag = spelled.partition("/")
    word: Word = ELIDING[spelled] if french and spelled in ELIDING else (fr if french else en)(text, tag)
    return word, int(link or 0)


def phrase(row: str) -> Phrase:
    """Read one row: `last/ADJ:1 week/NOUN:2 = la/DET semaine/NOUN:2 dernière/ADJ:1`."""
    english, _, french = row.partition(" = ")
    left = tuple(_token(item, False) for item in english.split())
    right = tuple(_token(item, True) for item in french.split())
    return Phrase(left, right, max(link for _, link in left + right))


def phrases(table: str) -> tuple[Phrase, ...]:
    """Read a table of rows, one a line."""
    return tuple(phrase(row.strip()) for row in table.strip().splitlines())
