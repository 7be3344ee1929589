"""Multi30k: 29,000 captions of photographs in English, German and French, one line each. arXiv:1605.00459

Raw text (cased, not tokenised), in files that are parallel line by line: train.en, train.de, val.fr, …
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

from regard.data.files import ParallelFiles, locate
from regard.data.pairs import Pair

ABOUT = "captions of photographs, 29,000 pairs"
LANGUAGES = tuple(f"{source}-{target}" for source, target in permutations(("en", "de", "fr"), 2))
SPLITS = ("train", "valid")
_STEMS = {"train": "train", "valid": "val"}


def pairs(languages: str, split: str) -> Iterable[Pair]:
    source, target = languages.split("-")
    return ParallelFiles(_file(split, source), _file(split, target))


def _file(split: str, language: str) -> Path:
    name = f"{_STEMS[split]}.{language}"
    return locate("multi30k", name, f"{name}.gz")
