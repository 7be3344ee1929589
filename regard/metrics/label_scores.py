"""All scores of the labels that a classifier gave: accuracy, F1, each class, and what was taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.labels import accuracy, label_scores, macro_f1


def all_scores(gold: Sequence[str], found: Sequence[str]) -> dict[str, Any]:
    """Plain values; of the confusion, right label → label that was found → how often, what never was left out."""
    if not len(gold) == len(found) > 0:
        raise ValueError(f"{len(found)} labels were found for {len(gold)} texts: each takes one")
    scores = label_scores(gold, found)
    names = [score.name for score in scores]
    counts = confusion(gold, found, names)
    return {
        "accuracy": accuracy(gold, found),
        "macro_f1": macro_f1(gold, found),
        "texts": len(gold),
        "classes": {
            score.name: {"precision": score.precision, "recall": score.recall, "f1": score.f1, "texts": score.count}
            for score in scores
        },
        "confusion": {
            name: {other: int(count) for other, count in zip(names, row, strict=True) if count}
            for name, row in zip(names, counts, strict=True)
            if row.any()
        },
    }


def confusion(gold: Sequence[str], found: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """(names, names): how often the label of a row was taken for that of a column."""
    places = {name: place for place, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for right, given in zip(gold, found, strict=True):
        counts[places[right], places[given]] += 1
    return counts
