"""How many of the labels that a model gives are right: accuracy and F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


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
