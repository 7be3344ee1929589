"""TREC: 5,452 questions by what they ask for. Li and Roth 2002, "Learning question classifiers".

One question a line, `COARSE:fine question`, in latin-1. "coarse" has 6 classes, "fine" 50, such as "NUM:date". Its test
part is another file; of this one 500 questions are held out as "valid".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.files import lines, locate
from regard.data.labelled import HeldOut, Labelled
from regard.errors import DataError

ABOUT = "types of questions, 5,452 texts"
VARIANTS = ("coarse", "fine")
SPLITS = ("train", "valid")
_HELD_OUT = 500


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    path = locate("trec", "train.txt", "train.txt.gz")
    return HeldOut(lambda: _questions(path, languages == "fine"), split, _HELD_OUT)


def _questions(path: Path, fine: bool) -> Iterator[Labelled]:
    for number, line in enumerate(lines(path, "latin-1"), 1):
        name, _, question = line.partition(" ")
        coarse, colon, _ = name.partition(":")
        if not (coarse and colon and question.strip()):
            raise DataError(f"{path}, line {number}: it is not of the form COARSE:fine question")
        yield Labelled(question.strip(), name if fine else coarse)
