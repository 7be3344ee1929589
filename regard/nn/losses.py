"""What layers add to the loss of a task while it is trained, beside what they compute.

A layer leaves an extra loss by `context.leave(role, loss)`; whoever trains a model gathers them, for any task:

    with gathering(model) as extra:
        loss, count = task.loss(model, batch)  # a sum over `count` words
        loss = loss + extra.total() * count

So an extra loss has the size of a mean: one of 2.0 adds 2.0 to the mean loss of the words, however many they are, and
also where a step has several batches or several processes share out a batch: then the mean counts in which each word
has the same say. Validation gathers nothing and judges by the words alone.

Layers that draw learn by reward: their loss waits for the outcome of the pass, which `words_loss` and `agreeing_loss`
leave for them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.nn.call.gathering import Outcome, losses_of
from regard.nn.heads import Head

IGNORED = -100  # the label of what is not a real word


@torch.no_grad()
def outcome(head: Head, hidden: Tensor, labels: Tensor, ignore: int = IGNORED) -> Outcome:
    """How likely a head finds the labels (B, T), given hidden states (B, T, D); those to `ignore` are not real."""
    real = labels != ignore
    chosen = head.log_probs(hidden).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return Outcome(chosen.masked_fill(~real, 0.0), real)


def words_loss(head: Head, hidden: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """The summed loss of words (B, T), given hidden states (B, T, D)."""
    losses_of(head).settle(lambda: outcome(head, hidden, labels))
    total: Tensor = head(hidden, labels, smoothing)
    return total


def agreeing_loss(
    head: Head, hidden: Tensor, labels: Tensor, agreement: float, smoothing: float = 0.0, ignore: int = IGNORED
) -> Tensor:
    """The same, given the hidden states (2B, T, D) of two passes over each example, which shall agree."""
    losses_of(head).settle(lambda: outcome(head, hidden, labels.repeat(2, 1), ignore))
    real = labels != ignore
    rows = hidden.view(2, *labels.shape, -1)[:, real]
    return head.agreeing_loss(rows, labels[real], agreement, smoothing)
