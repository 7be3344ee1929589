"""Cross-entropy over a large vocabulary, a few rows of logits at a time.

Building all logits of a batch costs a training step of a small model more than its layers do. Here each slice of rows
is scored, turned into probabilities and at once into gradients while it is still in the processor's cache; only the
gradients stay. The same idea on a GPU: Cut Cross-Entropy, arXiv:2411.09009.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.products import linear
from regard.nn.heads import capped

LOGITS_AT_ONCE = 1 << 20  # 4 MiB in fp32


def linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    smoothing: float = 0.0,
    ignore: int = -100,
    cap: float | None = None,
) -> Tensor:
    """Sum over targets (N,) of the cross-entropy of `hidden @ weight.T + bias`, hidden (N, D), weight (V, D).

    With smoothing e the target distribution is 1 - e on the target plus e spread evenly over the vocabulary (arXiv:
    1512.00567). Targets equal to `ignore` count nothing. With a `cap` c logits z are c tanh(z / c). The
    result is fp32, or fp64 where the inputs are.
    """
    device = hidden.device.type
    if torch.is_autocast_enabled(device):
        dtype = torch.get_autocast_dtype(device)
        hidden, weight = hidden.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
    if device == "cpu":  # padding costs nothing where dropping it needs no wait for a device
        real = targets != ignore
        if not real.all():
            hidden, targets = hidden[real], targets[real]
    with torch.autocast(device, enabled=False):
        total: Tensor = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
            hidden, weight, bias, targets, smoothing, ignore, cap
        )
    return total


class _LinearCrossEntropy(torch.autograd.Function):
    """Loss of a row with logits z and target y: lse(z) - (1 - e) z_y - e mean(z).

    Its gradient is softmax(z) - (1 - e) onehot(y) - e / V. The even part e / V is the same for all words, so it is
    added to the gradients of hidden and weight as a whole instead of to every logit, unless logits are capped: then the
    gradient of each is multiplied by its own 1 - (z / c)^2.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        ignore: int,
        cap: float | None,
    ) -> Tensor:
        rows, vocabulary = len(hidden), len(weight)
        dtype, exact = hidden.dtype, torch.promote_types(hidden.dtype, torch.float32)
        want_hidden, want_weight, want_bias = ctx.needs_input_grad[:3]
        grad_hidden = torch.empty_like(hidden) if want_hidden else None
        grad_weight = torch.zeros_like(weight, dtype=exact) if want_weight else None
        grad_bias = torch.zeros_like(bias, dtype=exact) if want_bias and bias is not None else None
        counts = (targets != ignore).to(dtype).unsqueeze(-1)  # (N, 1): 1 for a real target, 0 for padding
        words = targets.clamp(min=0).unsqueeze(-1)
        even = smoothing / vocabulary
        evenly = weight.sum(0) * even if smoothing and cap is None else None  # (D,)
        loss = hidden.new_zeros((), dtype=exact)
        step = max(1, min(rows, LOGITS_AT_ONCE // vocabulary))
        for start in range(0, rows, step):
            part = slice(start, start + step)
            h, y, count = hidden[part], words[part], counts[part]
            logits = capped(linear(h, weight, bias).to(exact), cap)
            chosen = logits.gather(-1, y) * (1 - smoothing)
            if smoothing:
                chosen = chosen + logits.mean(-1, keepdim=True) * smoothing
            probabilities = logits.softmax(-1)
            # The largest probability never underflows, so this log-sum-exp is safe and costs two maxima.
            lse = logits.amax(-1, keepdim=True) - probabilities.amax(-1, keepdim=True).log()
            loss += ((lse - chosen) * count).sum()
            if not (want_hidden or want_weight or want_bias):
                continue
            grad = probabilities.scatter_add_(-1, y, torch.full_like(chosen, smoothing - 1))
            if cap is not None:
                grad = (grad - even).mul_(1 - (logits / cap).square_())
            grad = grad.to(dtype)
            if grad_hidden is not None:
                part_grad = grad @ weight
                grad_hidden[part] = (part_grad if evenly is None else part_grad - evenly) * count
            if grad_weight is not None:
                weighted = h * count
                if dtype == exact:
                    grad_weight.addmm_(grad.t(), weighted)
                else:
                    grad_weight += grad.t() @ weighted
            if grad_bias is not None:
                grad_bias += (grad * count).sum(0)
        if evenly is not None and grad_weight is not None:
            grad_weight -= (hidden * counts).sum(0) * even
        if evenly is not None and grad_bias is not None:
            grad_bias -= counts.sum() * even
        grad_weight = None if grad_weight is None else grad_weight.to(dtype)
        grad_bias = None if grad_bias is None else grad_bias.to(dtype)
        ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        grads = [None if grad is None else grad * upstream.to(grad.dtype) for grad in ctx.saved_tensors]
        return (*grads, None, None, None, None)
