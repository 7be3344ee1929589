"""From scores of first and last tokens to a span: how an answer is found in a text."""

from __future__ import annotations

import math

import torch
from torch import Tensor

LONGEST = 30  # tokens of an answer


def best_span(logits: Tensor) -> tuple[float, int, int]:
    """(T, 2): the highest sum of a first token's logit and that of a last one, not before it and not too far behind."""
    sums = logits[:, 0, None] + logits[None, :, 1]
    allowed = torch.ones_like(sums, dtype=torch.bool).triu() & ~torch.ones_like(sums, dtype=torch.bool).triu(LONGEST)
    place = int(sums.masked_fill(~allowed, -math.inf).argmax())
    first, last = divmod(place, len(logits))
    return float(sums[first, last]), first, last


def over_none(score: float, none: float) -> float:
    """The probability that a span of such a score is better than none."""
    return 1 / (1 + math.exp(-max(min(score - none, 500.0), -500.0)))
