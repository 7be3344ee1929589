"""CoLA: sentences that are acceptable English or not. Warstadt et al. 2019, arXiv:1805.12471; in GLUE.

TSV without a header: source, label (1 for acceptable), the author's mark, sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import DataError, lines, locate
from regard.data.labelled import Labelled

ABOUT = "acceptable sentences or not, 8,551 texts"
SPLITS = ("train", "valid")
LABELS = {"0": "unacceptable", "1": "acceptable"}
_FILES = {"train": ("in_domain_train.tsv", "train.tsv"), "valid": ("in_domain_dev.tsv", "dev.tsv")}


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    return _ColaFile(locate("cola", *_FILES[split]))


@dataclass(frozen=True)
class _ColaFile:
    path: Path

    def __iter__(self) -> Iterator[Labelled]:
        for number, line in enumerate(lines(self.path), 1):
            cells = line.split("\t")
            if len(cells) != 4 or cells[1] not in LABELS or not cells[3].strip():
                raise DataError(f"{self.path}, line {number}: it is not a source, 0 or 1, a mark and a sentence")
            yield Labelled(cells[3].strip(), LABELS[cells[1]])
