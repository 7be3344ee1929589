"""R8: 5,485 news stories of Reuters-21578 with one of eight topics, cleaned to lower-case words. Cardoso-Cachopo 2007.

TSV: label, text. Its test part is another file; of this one 500 stories are held out as "valid".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.files import lines, locate
from regard.data.labelled import HeldOut, Labelled
from regard.errors import DataError

ABOUT = "topics of news stories, 5,485 texts"
SPLITS = ("train", "valid")
_HELD_OUT = 500


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    path = locate("r8", "train.txt", "train.txt.gz")
    return HeldOut(lambda: _stories(path), split, _HELD_OUT)


def _stories(path: Path) -> Iterator[Labelled]:
    for number, line in enumerate(lines(path), 1):
        label, _, text = line.partition("\t")
        if not (label and text.strip()):
            raise DataError(f"{path}, line {number}: it is not a label, a tab and a text")
        yield Labelled(text.strip(), label)
