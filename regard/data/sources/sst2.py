"""SST-2: sentences and phrases of film reviews, positive or negative. Socher et al. 2013; GLUE, arXiv:1804.07461.

TSV with a header, "sentence" and "label", 0 for negative. The training part has phrases of its sentences too.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import cells, locate
from regard.data.labelled import Labelled

ABOUT = "sentiment of phrases and sentences, 67,349 texts"
SPLITS = ("train", "valid")
LABELS = {"0": "negative", "1": "positive"}
_FILES = {"train": "train.tsv", "valid": "dev.tsv"}


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    path = locate("sst2", _FILES[split], f"{_FILES[split]}.gz")
    return cells(path, (0, 1), 1, _phrase, "a text and a label, 0 or 1, as in GLUE's file")


def _phrase(text: str, label: str) -> Labelled | None:
    return Labelled(text, LABELS[label]) if label in LABELS else None
