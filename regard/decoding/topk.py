"""The likeliest words, quickly."""

from __future__ import annotations

import torch
from torch import Tensor

FOLDS = 8
MANY = 512  # columns from which on it pays


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
