"""STS-B: pairs of sentences by how alike they are, from 0 to 5. Cer et al. 2017, arXiv:1708.00055; in GLUE.

TSV without a header, seven columns: genre, file, year, identity, score, two sentences; some lines have a source more.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import cells, locate
from regard.data.judged import JudgedPair

ABOUT = "likeness of sentences from 0 to 5, 5,749 pairs"
SPLITS = ("train", "valid")
_FILES = {"train": "sts-train.csv", "valid": "sts-dev.csv"}


def judged(languages: str, split: str) -> Iterable[JudgedPair]:
    path = locate("stsb", _FILES[split], f"{_FILES[split]}.gz")
    return cells(path, (5, 6, 4), 0, _pair, "of seven columns with a score in the fifth")


def _pair(first: str, second: str, score: str) -> JudgedPair | None:
    return JudgedPair(first, second, score, scored=True) if first and second and _number(score) else None


def _number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()
