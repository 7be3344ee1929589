"""SST-2: sentences and phrases of film reviews, positive or negative. Socher et al. 2013; GLUE, arXiv:1804.07461.

TSV with a header, "sentence" and "label", 0 for negative. The training part has phrases of its sentences too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import DataError, lines, locate
from regard.data.labelled import Labelled

ABOUT = "sentiment of phrases and sentences, 67,349 texts"
SPLITS = ("train", "valid")
LABELS = {"0": "negative", "1": "positive"}
_FILES = {"train": "train.tsv", "valid": "dev.tsv"}


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    return _Sst2File(locate("sst2", _FILES[split], f"{_FILES[split]}.gz"))


@dataclass(frozen=True)
class _Sst2File:
    path: Path

    def __iter__(self) -> Iterator[Labelled]:
        for number, line in enumerate(lines(self.path), 1):
            text, _, label = line.partition("\t")
            if label in LABELS:
                yield Labelled(text.strip(), LABELS[label])
            elif number > 1:  # the header
                raise DataError(f"{self.path}, line {number}: label {label!r} is not 0 or 1; take GLUE's file")
