"""R-Drop's loss (`regard/nn/agreement.py`) over a large vocabulary, a few rows of logits at a time.

As in the cross-entropy beside it, each slice of rows is scored and turned into gradients at once. arXiv:2106.14448
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.crossentropy import LOGITS_AT_ONCE


def linear_agreeing_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, agreement: float, smoothing: float = 0.0
) -> Tensor:
    """`agreeing_cross_entropy` of the passes' hidden states (2, N, D), scored by `hidden @ weight.T + bias`, weight
    (V, D). It is computed in the precision of the weight: how far two passes are apart is less than what rounding them
    would add. Under autocast only the gradients are multiplied in its precision."""
    device = hidden.device.type
    product = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
    with torch.autocast(device, enabled=False):
        total: Tensor = _LinearAgreement.apply(  # type: ignore[no-untyped-call]
            hidden.to(weight.dtype), weight, bias, targets, agreement, smoothing, product
        )
    return total


class _LinearAgreement(torch.autograd.Function):
    """With d = log p - log q the divergence is Σ (p - q) d, and its gradient by the logits of p is
    p (d - Σ p d) + p - q; by those of q it is the same with p and q exchanged."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        agreement: float,
        smoothing: float,
        product: torch.dtype,
    ) -> Tensor:
        rows, vocabulary = len(targets), len(weight)
        rough = weight.to(product)
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        grad_bias = None if bias is None else torch.zeros_like(bias)
        signs = hidden.new_tensor([agreement, -agreement]).view(2, 1, 1)
        loss = hidden.new_zeros(())
        step = max(1, min(rows, LOGITS_AT_ONCE // (2 * vocabulary)))
        for start in range(0, rows, step):
            part = slice(start, start + step)
            h, words = hidden[:, part], targets[part].expand(2, -1).unsqueeze(-1)
            logs = F.linear(h, weight, bias).log_softmax(-1)  # (2, n, V)
            chances = logs.exp()
            grad = chances * (logs[0] - logs[1])
            means = grad.sum(-1, keepdim=True)  # of d, by each of the two
            loss += (smoothing - 1) * logs.gather(-1, words).sum() + (signs * means).sum()
            if smoothing:
                loss -= smoothing * logs.mean(-1).sum()
            grad += chances[0] - chances[1]
            grad.mul_(signs).addcmul_(chances, 1 - signs * means)  # and the softmax of the cross-entropy
            grad.scatter_add_(-1, words, grad.new_full((), smoothing - 1).expand(words.shape))
            if smoothing:
                grad -= smoothing / vocabulary
            if grad_bias is not None:
                grad_bias += grad.sum((0, 1))
            grad, h = grad.to(product), h.to(product)
            grad_hidden[:, part] = grad @ rough
            if product == weight.dtype:
                grad_weight.addmm_(grad.flatten(0, 1).t(), h.flatten(0, 1))
            else:
                grad_weight += grad.flatten(0, 1).t() @ h.flatten(0, 1)
        ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return loss / 2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        grads = (None if grad is None else grad * (upstream / 2) for grad in ctx.saved_tensors)
        return (*grads, None, None, None, None)
