"""The likeliest words, quickly: what decoding asks of logits, which are many and mostly of no interest."""

from __future__ import annotations

import threading

import torch
from torch import Tensor

from regard.nn.few import by_onednn, in_parts, in_use, linear, suits_onednn

NEVER = float("-inf")
LOWEST = torch.finfo(torch.float32).min
TINY = 1e-30
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
    if logits.device.type != "cpu":
        return logits.logsumexp(-1)
    rows = max(AT_ONCE // logits.shape[1], 1)
    return torch.cat([_log_total(part) for part in torch.split(logits, rows)])


def _log_total(logits: Tensor) -> Tensor:
    """In four passes of its own, which take a fifth of the time of PyTorch's `logsumexp` on a CPU."""
    highest = logits.amax(-1, keepdim=True).clamp_(min=LOWEST)  # where every word is barred
    return (logits - highest).exp_().sum(-1).log_().add_(highest.squeeze(-1))


def best_words(logits: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The highest logits (B, count), best first, their words, and the log of the sum of all exponentials (B,).

    A `barred` word cannot be chosen, though it counts in the sum; its logits are overwritten.
    """
    totals = log_total(logits)
    if barred is not None:
        logits[:, barred] = NEVER
    return *likeliest(logits, count), totals


@torch.no_grad()
def linear_best_words(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, count: int, barred: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`best_words` of hidden @ weight.T + bias, hidden (B, D), weight (V, D), some words at a time.

    All logits of a batch are more than a processor's cache holds, and going over them again and again costs more than
    the product. Here the sum and the peaks of `likeliest` are taken of each slice of words while it is in the cache.
    """
    rows, words = len(hidden), len(weight)
    size = max(AT_ONCE // max(rows, 1) // FOLDS, 2 * count) * FOLDS  # words in a slice
    if words <= size or (in_use(hidden, weight) and in_parts(hidden, weight)) or exact(hidden).dtype != hidden.dtype:
        return best_words(exact(linear(hidden, weight, bias)), count, barred)
    slices, width = -(-words // size), size // FOLDS
    room = scratch((slices + 1) * size * rows, hidden).view(slices + 1, size, rows)
    logits, powers = room[:slices], room[slices]
    peaks, sums = hidden.new_empty(slices, width, rows), hidden.new_empty(slices, rows)
    unbarred = hidden.new_empty(rows)  # the logits of the barred word, where there is one
    for number, start in enumerate(range(0, words, size)):
        end = min(start + size, words)
        part, real = logits[number], logits[number, : end - start]
        part[end - start :] = NEVER
        score(weight[start:end], hidden, real)
        if bias is not None:
            real += bias[start:end, None]
        torch.sum(torch.exp(real, out=powers[: end - start]), 0, out=sums[number])
        if barred is not None and start <= barred < end:
            unbarred.copy_(part[barred - start])
            part[barred - start] = NEVER
        torch.amax(part.view(FOLDS, width, rows), 0, out=peaks[number])
    columns = peaks.view(-1, rows).topk(count, dim=0, sorted=False).indices  # (count, B)
    home = columns // width * size + columns % width  # the first word of each column
    found = (home + torch.arange(0, size, width)[:, None, None]).flatten(0, 1)  # (FOLDS · count, B)
    values, best = logits.view(-1, rows).gather(0, found).topk(count, dim=0)
    totals = sums.sum(0)
    if bool(((totals > TINY) & (totals < 1 / TINY)).all()):
        totals.log_()
    else:  # beyond what exponentials can tell: such logits are seen in no trained model, but in a broken one
        if barred is not None:
            logits.view(-1, rows)[barred] = unbarred
        totals = log_total(logits.view(-1, rows).t().contiguous())
    return values.t().contiguous(), found.gather(0, best).t().contiguous(), totals


def score(words: Tensor, hidden: Tensor, into: Tensor) -> None:
    """words (V, D), hidden (B, D) → (V, B), a row for each word: quicker so where states are few."""
    if suits_onednn(hidden, words):
        into.copy_(by_onednn(words, hidden, None))
    else:
        torch.mm(words, hidden.t(), out=into)


_own = threading.local()


def scratch(count: int, like: Tensor) -> Tensor:
    """Memory of this thread to write numbers into, the same again and again: new memory costs more than filling it."""
    room: Tensor | None = getattr(_own, "room", None)
    if room is None or len(room) < count or room.dtype != like.dtype:
        room = _own.room = like.new_empty(count)
    return room[:count]
