"""Tatoeba: 178,009 short English-French sentences of everyday speech, by volunteers (CC-BY 2.0, tatoeba.org).

One file, TSV: English, French, attribution; sorted by length, and the same English may stand on several lines. There is
no official split: one English sentence in a hundred is held out as "valid" by its hash, with all its translations, so
that no English sentence stands in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from regard.data.files import PairFile, locate
from regard.data.pairs import Pair, again

ABOUT = "short sentences of everyday speech, 178,009 pairs"
LANGUAGES = ("en-fr", "fr-en")
SPLITS = ("train", "valid")
_HELD_OUT = 100  # one in so many


def pairs(languages: str, split: str) -> Iterable[Pair]:
    return _pairs(locate("tatoeba", "eng-fra.tsv.gz", "eng-fra.tsv"), split, swap=languages == "fr-en")


@again
def _pairs(path: Path, split: str, swap: bool) -> Iterator[Pair]:
    """Those of one split, in the order of the file."""
    for pair in PairFile(path):
        if split_of(pair.source) == split:
            yield Pair(pair.target, pair.source) if swap else pair


def split_of(english: str) -> str:
    """The split to which an English sentence belongs, on every machine and for ever."""
    number = int.from_bytes(blake2b(english.encode("utf-8"), digest_size=8).digest(), "big")
    return "valid" if number % _HELD_OUT == 0 else "train"
