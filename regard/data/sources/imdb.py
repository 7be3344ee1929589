"""IMDB: 25,000 film reviews, positive or negative. Maas et al. 2011, "Learning word vectors for sentiment analysis".

TSV: label (0 for negative), identity, text; sorted by label. Its test part is another file; of this one, shuffled, the
last 5,000 are held out as "valid". The file has a few reviews twice, so that 30 of those stand in both splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.documents import Document, in_memory
from regard.data.files import lines, locate
from regard.data.labelled import HeldOut, Labelled
from regard.data.sources.sst2 import LABELS
from regard.errors import DataError

ABOUT = "film reviews, 25,000 texts"
SPLITS = ("train", "valid")
_HELD_OUT = 5_000


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    path = locate("imdb", "train.tsv.gz", "train.tsv")
    return HeldOut(lambda: _reviews(path), split, _HELD_OUT, once=False)


def texts(languages: str, split: str) -> Iterable[Document]:
    """The reviews without their labels, each a text of its own."""
    return [in_memory("imdb", f"{review.text}\n") for review in labelled(languages, split)]


def _reviews(path: Path) -> Iterator[Labelled]:
    for number, line in enumerate(lines(path), 1):
        label, _, rest = line.partition("\t")
        text = rest.partition("\t")[2].replace("<br />", " ").strip()
        if label not in LABELS or not text:
            raise DataError(f"{path}, line {number}: it is not a label, 0 or 1, an identity and a text, between tabs")
        yield Labelled(text, LABELS[label])
