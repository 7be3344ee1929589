"""Two passes over the same examples, with other units dropped, shall agree: R-Drop, arXiv:2106.14448."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def agreeing_cross_entropy(logs: Tensor, targets: Tensor, agreement: float, smoothing: float = 0.0) -> Tensor:
    """The summed loss of targets (N,) by the log-probabilities (2, N, V) of two passes: the mean of both
    cross-entropies, and `agreement` times their divergence, the mean of KL(p, q) and KL(q, p)."""
    chosen = logs.gather(-1, targets.expand(2, -1).unsqueeze(-1)).sum()
    losses = (smoothing - 1) * chosen - smoothing * logs.mean(-1).sum()
    chances = logs.exp()
    apart = ((chances[0] - chances[1]) * (logs[0] - logs[1])).sum()
    return (losses + agreement * apart) / 2


# --- labels and scores of whole texts ---------------------------------------------------------------------------------


def label_loss(logits: Tensor, right: Tensor, weights: Tensor | None, agreement: float = 0.0) -> Tensor:
    """The mean cross-entropy of examples (N,) by their logits (N, labels), weighed by label. With `agreement` the
    logits are those of two passes with other dropout, the second behind the first (2N, labels), and so many times their
    divergence is added, the mean of KL(p, q) and KL(q, p). R-Drop, arXiv:2106.14448."""
    if not agreement:
        return F.cross_entropy(logits, right, weights)
    one, other = logits.log_softmax(-1).chunk(2)
    apart = ((one.exp() - other.exp()) * (one - other)).sum(-1).mean()
    return F.cross_entropy(logits, right.repeat(2), weights) + agreement / 2 * apart


def score_loss(found: Tensor, right: Tensor, agreement: float = 0.0) -> Tensor:
    """The same of scores (N,): squared errors, and the squared difference of two passes (2N,)."""
    if not agreement:
        return F.mse_loss(found, right)
    one, other = found.chunk(2)
    return F.mse_loss(found, right.repeat(2)) + agreement * F.mse_loss(one, other)
