"""Flickr8k: 8,000 photographs with five captions each. Hodosh et al. 2013, "Framing image description as a ranking
task".

A TSV with a header (image, caption) beside a folder of photographs, and lists of the files of each split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import lines, locate
from regard.data.pictures.examples import CaptionedPicture
from regard.data.pictures.tables import CaptionTable
from regard.errors import DataError

ABOUT = "photographs with five captions each, 7,000 pictures"
SPLITS = ("train", "valid")
_LISTS = {"train": "train.txt", "valid": "dev.txt"}


def captioned(languages: str, split: str) -> Iterable[CaptionedPicture]:
    return Chosen(locate("flickr8k", "captions.tsv", "captions.tsv.gz"), locate("flickr8k", _LISTS[split]))


@dataclass(frozen=True)
class Chosen:
    """The pictures of a table that stand in a list of files, in the order of the list."""

    table: Path
    list: Path

    def __iter__(self) -> Iterator[CaptionedPicture]:
        known = {Path(one.picture.name).name: one for one in CaptionTable(self.table)}
        for name in filter(None, map(str.strip, lines(self.list))):
            if name not in known:
                raise DataError(f"{self.table}: there are no captions of {name}, which {self.list} names")
            yield known[name]
