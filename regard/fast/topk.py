"""The likeliest words, quickly: what decoding asks of logits, which are many and mostly of no interest."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.fast.products import Packed, linear
from regard.nn.heads import NEVER, exact

LOG2_E = math.log2(math.e)
LOWEST = torch.finfo(torch.float32).min
SAFE_LOGIT = 60.0  # exponentials of this and of less, and sums of them, are far from the ends of the number line
FOLDS = 8
MIN_COLUMNS_TO_FOLD = 128
LOGITS_AT_ONCE = 1 << 22


def likeliest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Values and places (B, count) of the highest logits (B, V), best first: `topk`, over twice as fast on a CPU.

    The words are laid out in columns of `FOLDS`. The `count` highest values lie in the `count` columns with the highest
    peaks, and a maximum is much cheaper to find than an order.
    """
    width = logits.shape[1] // FOLDS
    if logits.device.type != "cpu" or width < max(MIN_COLUMNS_TO_FOLD, count):
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
    """(B, V) → (B,) log of the sum of exponentials."""
    if logits.device.type != "cpu":
        return logits.logsumexp(-1)
    return log_total_(logits.clone(), logits.amax(-1))


def log_total_(logits: Tensor, highest: Tensor) -> Tensor:
    """The same where the highest logits (B,) are known; all of them are overwritten.

    In few passes, since memory is what they cost, and by powers of two, which PyTorch finds three times as fast as
    those of e: its `logsumexp` takes several times as long on a CPU.
    """
    if logits.device.type != "cpu":
        return logits.logsumexp(-1)
    if bool((highest.abs() < SAFE_LOGIT).all()):
        return logits.mul_(LOG2_E).exp2_().sum(-1).log_()
    highest = highest.clamp(min=LOWEST)  # where every word is barred
    return logits.sub_(highest[:, None]).mul_(LOG2_E).exp2_().sum(-1).log_().add_(highest)


def best_words(logits: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The highest logits (B, count), best first, their words, and the log of the sum of all exponentials (B,).

    A `barred` word cannot be chosen, though it counts in the sum. The logits are overwritten.
    """
    if barred is None:
        values, words = likeliest(logits, count)
        return values, words, log_total_(logits, values[:, 0])
    own = logits[:, barred].clone()
    logits[:, barred] = NEVER
    values, words = likeliest(logits, count)
    logits[:, barred] = own
    return values, words, log_total_(logits, torch.maximum(values[:, 0], own))


@torch.no_grad()
def linear_best_words(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    count: int,
    barred: int | None = None,
    packed: Packed | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`best_words` of hidden @ weight.T + bias, hidden (B, D), weight (V, D).

    Where a vocabulary is large, by slices of words: its logits would leave the processor's caches before they are used.
    """
    words = len(weight)
    slices = -(-words * len(hidden) // LOGITS_AT_ONCE) if hidden.device.type == "cpu" else 1
    size = max(-(-words // max(slices, 1)), count)
    if size >= words:
        return best_words(exact(linear(hidden, weight, bias, packed)), count, barred)
    values, places, totals = [], [], []
    for start in range(0, words, size):
        own = slice(start, start + size)
        logits = exact(linear(hidden, weight[own], None if bias is None else bias[own]))
        here = barred - start if barred is not None and start <= barred < start + size else None
        value, place, total = best_words(logits, count, here)
        values.append(value)
        places.append(place + start)
        totals.append(total)
    best = torch.cat(values, 1).topk(count)
    return best.values, torch.cat(places, 1).gather(1, best.indices), torch.stack(totals).logsumexp(0)
