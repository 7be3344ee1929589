"""SICK: pairs of sentences by how related they are, from 1 to 5, and by what follows. Marelli et al. 2014.

TSV with a header: identity, two sentences, relatedness, judgement. "relatedness" gives scores, "entailment" the labels
ENTAILMENT, NEUTRAL and CONTRADICTION. Its trial part is "valid".
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import cells, locate
from regard.data.judged import JudgedPair

ABOUT = "relatedness and entailment of sentences, about 4,500 pairs"
VARIANTS = ("relatedness", "entailment")
SPLITS = ("train", "valid")
_FILES = {"train": "SICK_train.txt", "valid": "SICK_trial.txt"}


def judged(languages: str, split: str) -> Iterable[JudgedPair]:
    path, scored = locate("sick", _FILES[split], f"{_FILES[split]}.gz"), languages == "relatedness"

    def pair(first: str, second: str, verdict: str) -> JudgedPair | None:
        return JudgedPair(first, second, verdict, scored) if first and second and verdict else None

    return cells(path, (1, 2, 3 if scored else 4), 1, pair, "an identity, two sentences, a score and a judgement")
