"""Two passes over the same examples, with other units dropped, shall agree: R-Drop, arXiv:2106.14448."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def agreeing_cross_entropy(logs: Tensor, targets: Tensor, agreement: float, smoothing: float = 0.0) -> Tensor:
    """Sum over targets (N,) of what two passes make of each, log-probabilities (2, N, V): the mean of their
    cross-entropies, and `agreement` times the mean of KL(p, q) and KL(q, p)."""
    chosen = logs.gather(-1, targets.expand(2, -1).unsqueeze(-1)).sum()
    losses = (smoothing - 1) * chosen - smoothing * logs.mean(-1).sum()
    chances = logs.exp()
    apart = ((chances[0] - chances[1]) * (logs[0] - logs[1])).sum()
    return (losses + agreement * apart) / 2


# --- labels and scores of whole texts ---------------------------------------------------------------------------------


def label_loss(logits: Tensor, right: Tensor, weights: Tensor | None, agreement: float = 0.0) -> Tensor:
    """The mean cross-entropy of examples (N,) by their logits (N, labels), weighed by label. With `agreement` all were
    read twice by other dropout, the second time behind the first (2N, labels), and how far both are apart counts so
    strongly: the mean of KL(p, q) and KL(q, p). R-Drop, arXiv:2106.14448."""
    if not agreement:
        return F.cross_entropy(logits, right, weights)
    one, other = logits.log_softmax(-1).chunk(2)
    apart = ((one.exp() - other.exp()) * (one - other)).sum(-1).mean()
    return F.cross_entropy(logits, right.repeat(2), weights) + agreement / 2 * apart


def score_loss(found: Tensor, right: Tensor, agreement: float = 0.0) -> Tensor:
    """The same of scores (N,): squared errors, and how far two readings (2N,) are apart."""
    if not agreement:
        return F.mse_loss(found, right)
    one, other = found.chunk(2)
    return F.mse_loss(found, right.repeat(2)) + agreement * F.mse_loss(one, other)
