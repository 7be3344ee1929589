"""MRPC: pairs of sentences from the news, paraphrases or not. Dolan and Brockett 2005; GLUE, arXiv:1804.07461.

TSV with a header: quality (1 for a paraphrase), two identities, two sentences.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import cells, locate
from regard.data.judged import JudgedPair

ABOUT = "paraphrases or not, 3,576 pairs"
SPLITS = ("train", "valid")
LABELS = {"0": "different", "1": "paraphrase"}
_FILES = {"train": ("train.tsv", "msr_paraphrase_train.txt"), "valid": ("val.tsv", "dev.tsv")}


def judged(languages: str, split: str) -> Iterable[JudgedPair]:
    path = locate("mrpc", *_FILES[split])
    return cells(path, (3, 4, 0), 1, _pair, "a quality, 0 or 1, two identities and two sentences")


def _pair(first: str, second: str, quality: str) -> JudgedPair | None:
    return JudgedPair(first, second, LABELS[quality]) if quality in LABELS and first and second else None
