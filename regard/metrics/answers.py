"""How right answers are: exact match and F1, as SQuAD scores them. Rajpurkar et al. 2018, arXiv:1806.03822."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Indices, SampledScores

ARTICLES = re.compile(r"\b(a|an|the)\b")


def plain(text: str) -> list[str]:
    """Words without case, punctuation and articles, as SQuAD compares answers."""
    letters = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return ARTICLES.sub(" ", letters).split()


def exact(found: str, right: Iterable[str]) -> float:
    """Whether it equals one of the right answers; where there is none, whether none was given."""
    return float(any(plain(found) == plain(one) for one in list(right) or [""]))


def overlap(found: str, right: Iterable[str]) -> float:
    """The F1 of its words against the right answer that it is nearest to."""
    return max(_f1(plain(found), plain(one)) for one in list(right) or [""])


def _f1(found: list[str], right: list[str]) -> float:
    if not found or not right:
        return float(found == right)
    shared = (Counter(found) & Counter(right)).total()
    return 2 * shared / (len(found) + len(right))


@dataclass(frozen=True)
class AnswerScores(SampledScores):
    """Of N answers: 1 where it is exactly right, its F1, and whether its question has an answer."""

    called = "questions"

    exact: NDArray[np.float64]
    f1: NDArray[np.float64]
    answered: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.exact)

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Exact match and F1 of the chosen ones, as shares; also of the questions that have an answer alone, and how
        many of the others were left without one. nan where none is chosen."""
        exacts, shares, answered = self.exact[chosen], self.f1[chosen], self.answered[chosen]
        found = {"f1": mean(shares), "exact": mean(exacts)}
        if self.answered.any():
            found["f1_answered"] = mean(shares[answered])
        if not self.answered.all():
            found["none_right"] = mean(exacts[~answered])
        return found


def mean(shares: NDArray[Any]) -> float:
    return float(shares.mean()) if len(shares) else float("nan")


def judged_answers(found: Sequence[str], right: Sequence[Sequence[str]]) -> AnswerScores:
    pairs = list(zip(found, right, strict=True))
    exacts, shares = np.array([exact(*one) for one in pairs]), np.array([overlap(*one) for one in pairs])
    return AnswerScores(exacts, shares, np.array([bool(one) for one in right]))
