"""Names of labels: kept in the run folder, how rare each is, and what is right about the ones that a model gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.checkpoint import LABELS, read_labels, write_labels

__all__ = [
    "LABELS",
    "LabelScore",
    "accuracy",
    "class_weights",
    "label_scores",
    "macro_f1",
    "read_labels",
    "write_labels",
]


@dataclass(frozen=True)
class LabelScore:
    """Of one label: the share of right ones where it was given, and where it should have been; their harmonic mean;
    and how often it should have been."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int


def label_scores(gold: Sequence[str], found: Sequence[str]) -> list[LabelScore]:
    """Of every label that should have been or was given, in the order of the alphabet."""
    right = Counter(one for one, other in zip(gold, found, strict=True) if one == other)
    wanted, given = Counter(gold), Counter(found)
    return [
        LabelScore(
            name,
            precision=right[name] / given[name] if given[name] else 0.0,
            recall=right[name] / wanted[name] if wanted[name] else 0.0,
            f1=2 * right[name] / (given[name] + wanted[name]),
            count=wanted[name],
        )
        for name in sorted(wanted | given)
    ]


def accuracy(gold: Sequence[str], found: Sequence[str]) -> float:
    """The share of right labels."""
    return sum(one == other for one, other in zip(gold, found, strict=True)) / len(gold)


def macro_f1(gold: Sequence[str], found: Sequence[str]) -> float:
    """The mean of the labels' F1: a rare label counts as much as a frequent one."""
    scores = label_scores(gold, found)
    return sum(score.f1 for score in scores) / len(scores)


def class_weights(given: Tensor, labels: int) -> Tensor:
    """(labels,): one over how often each occurs among those that were `given` by number, so that all count alike; their
    mean over what was given is 1."""
    counts = torch.bincount(given, minlength=labels).clamp(min=1)
    return len(given) / (labels * counts.float())
