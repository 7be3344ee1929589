"""What decoding gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Hypothesis:
    """One sequence that a model may have meant.

    `tokens` come without start and end. `log_prob` is what the model itself gives to them and, if it was `finished`,
    to the end: not narrowed by temperature, top-k or anything forbidden. `score` is what they are ranked by.
    """

    tokens: list[int]
    score: float
    log_prob: float
    finished: bool


def scored(tokens: list[int], log_prob: float, finished: bool, penalty: float) -> Hypothesis:
    length = len(tokens) + finished
    return Hypothesis(tokens, log_prob / length**penalty, log_prob, finished)


def ranked(hypotheses: Iterable[Hypothesis], count: int) -> list[Hypothesis]:
    """The best so many; what was cut comes after what ended by itself, since it often runs in circles."""
    return sorted(hypotheses, key=lambda one: (one.finished, one.score), reverse=True)[:count]
