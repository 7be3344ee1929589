"""Tatoeba: 178,009 short English-French sentences of everyday speech, by volunteers (CC-BY 2.0, tatoeba.org).

One file, TSV: English, French, attribution; sorted by length, and the same English may stand on several lines. There is
no official split: one English sentence in a hundred is held out as "valid" by its hash, with all its translations, so
that no English sentence stands in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from regard.data.files import PairFile, locate
from regard.data.pairs import Pair

ABOUT = "short sentences of everyday speech, 178,009 pairs"
LANGUAGES = ("en-fr", "fr-en")
SPLITS = ("train", "valid")
_HELD_OUT = 100  # one in so many


def pairs(languages: str, split: str) -> Iterable[Pair]:
    return _TatoebaSplit(locate("tatoeba", "eng-fra.tsv.gz", "eng-fra.tsv"), split, swap=languages == "fr-en")


@dataclass(frozen=True)
class _TatoebaSplit:
    """The pairs of one split, in the order of the file, as often as asked."""

    path: Path
    split: str
    swap: bool

    def __iter__(self) -> Iterator[Pair]:
        for pair in PairFile(self.path):
            if split_of(pair.source) == self.split:
                yield Pair(pair.target, pair.source) if self.swap else pair


def split_of(english: str) -> str:
    """The split to which an English sentence belongs, on every machine and for ever."""
    number = int.from_bytes(blake2b(english.encode("utf-8"), digest_size=8).digest(), "big")
    return "valid" if number % _HELD_OUT == 0 else "train"
