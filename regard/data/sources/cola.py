"""CoLA: sentences that are acceptable English or not. Warstadt et al. 2019, arXiv:1805.12471; in GLUE.

TSV without a header: source, label (1 for acceptable), the author's mark, sentence.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import cells, locate
from regard.data.labelled import Labelled

ABOUT = "acceptable sentences or not, 8,551 texts"
SPLITS = ("train", "valid")
LABELS = {"0": "unacceptable", "1": "acceptable"}
_FILES = {"train": ("in_domain_train.tsv", "train.tsv"), "valid": ("in_domain_dev.tsv", "dev.tsv")}


def labelled(languages: str, split: str) -> Iterable[Labelled]:
    path = locate("cola", *_FILES[split])
    return cells(path, (1, 3), 0, _sentence, "a source, 0 or 1, a mark and a sentence")


def _sentence(label: str, text: str) -> Labelled | None:
    return Labelled(text, LABELS[label]) if label in LABELS and text else None
