"""The likeliest words, quickly: what decoding asks of logits, which are many and mostly of no interest."""

from __future__ import annotations

import torch
from torch import Tensor

NEVER = float("-inf")
FOLDS = 8
MANY = 128  # columns from which on folding pays
AT_ONCE = 1 << 18  # logits: what stays in a core's cache


def exact(logits: Tensor) -> Tensor:
    """In at least single precision: sums of log-probabilities are compared."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def likeliest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Values and places (B, count) of the highest logits (B, V), best first: `topk`, over twice as fast on a CPU.

    The words are laid out in columns of `FOLDS`. The `count` highest values lie in the `count` columns with the highest
    peaks, and a maximum is much cheaper to find than an order.
    """
    width = logits.shape[1] // FOLDS
    if logits.device.type != "cpu" or width < max(MANY, count):
        best = logits.topk(min(count, logits.shape[1]))
        return best.values, best.indices
    folded = logits[:, : width * FOLDS].view(-1, FOLDS, width)
    columns = folded.amax(1).topk(count, sorted=False).indices  # (B, count)
    words = (columns[:, None] + torch.arange(0, width * FOLDS, width)[:, None]).flatten(1)  # (B, FOLDS · count)
    rest = torch.arange(width * FOLDS, logits.shape[1]).expand(len(logits), -1)  # fewer than FOLDS
    words = torch.cat([words, rest], dim=1)
    values, places = logits.gather(1, words).topk(count)
    return values, words.gather(1, places)


def log_total(logits: Tensor) -> Tensor:
    """(B, V) → (B,) log of the sum of exponentials, some rows at a time: memory, not arithmetic, is what it costs."""
    rows = max(AT_ONCE // logits.shape[1], 1)
    if logits.device.type != "cpu" or rows >= len(logits):
        return logits.logsumexp(-1)
    return torch.cat([part.logsumexp(-1) for part in torch.split(logits, rows)])


def best_words(logits: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The highest logits (B, count), best first, their words, and the log of the sum of all exponentials (B,).

    A `barred` word cannot be chosen, though it counts in the sum; its logits are overwritten.
    """
    totals = log_total(logits)
    if barred is not None:
        logits[:, barred] = NEVER
    return *likeliest(logits, count), totals


def linear_best_words(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, count: int, barred: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`best_words` of hidden @ weight.T + bias, hidden (B, D), weight (V, D), some words at a time.

    All logits of a batch are more than a processor's cache holds, and writing and reading them costs more than the
    product. Each slice is reduced to its best words and its sum while it is in the cache.
    """
    size = max(AT_ONCE // max(len(hidden), 1), count)
    parts = []
    for start in range(0, len(weight), size):
        end = min(start + size, len(weight))
        logits = torch.nn.functional.linear(hidden, weight[start:end], None if bias is None else bias[start:end])
        inside = barred - start if barred is not None and start <= barred < end else None
        values, words, totals = best_words(exact(logits), count, inside)
        parts.append((values, words + start, totals))
    if len(parts) == 1:
        return parts[0]
    values, words, totals = (torch.cat(list(found), dim=-1) for found in _columns(parts))
    best = values.topk(min(count, values.shape[1]))
    return best.values, words.gather(1, best.indices), totals.logsumexp(-1)


def _columns(parts: list[tuple[Tensor, Tensor, Tensor]]) -> list[list[Tensor]]:
    """Values, words and sums of all slices, each as (B, …)."""
    return [[part[0] for part in parts], [part[1] for part in parts], [part[2].unsqueeze(1) for part in parts]]
