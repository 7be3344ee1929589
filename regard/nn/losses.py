"""Named extra losses: what a layer adds to the loss of the task, while training, beside what it computes.

A layer leaves them in `context.losses` under its own name; a task gathers those of all passes of a model and adds them:

    loss = words_loss(model, model.head, lambda: model.features(...), labels)

Like the loss of a task, an extra loss is a sum over the words of the batch, so that batches may be computed in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.nn.context import Gathering, Losses, Outcome, gatherings
from regard.nn.heads import Head


@dataclass(frozen=True)
class Extra:
    """The extra losses that were gathered."""

    losses: Losses

    def total(self, outcome: Callable[[], Outcome]) -> Tensor | float:
        """Their sum; zero where there are none. `outcome` is asked for only where a loss depends on it."""
        total: Tensor | float = 0.0
        known: Outcome | None = None
        for loss in self.losses.values():
            if isinstance(loss, Tensor):
                total = total + loss
            else:
                known = known or outcome()
                total = total + loss(known)
        return total


@contextmanager
def gathering(model: nn.Module) -> Iterator[Extra]:
    """Gather what the layers of a model add to the loss while the block runs, in this thread."""
    losses: Losses = {}
    token = gatherings.set((*gatherings.get(), Gathering(model, losses)))
    try:
        yield Extra(losses)
    finally:
        gatherings.reset(token)


@torch.no_grad()
def outcome(head: Head, hidden: Tensor, labels: Tensor, ignore: int = -100) -> Outcome:
    """How likely a head finds the labels (B, T), given hidden states (B, T, D); those to `ignore` are not real."""
    real = labels != ignore
    chosen = head.log_probs(hidden).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return Outcome(chosen.masked_fill(~real, 0.0), real)


def words_loss(
    model: nn.Module, head: Head, read: Callable[[], Tensor], labels: Tensor, smoothing: float = 0.0
) -> Tensor:
    """The summed loss of words (B, T), given the hidden states that `read` makes, with all that layers add to it."""
    with gathering(model) as extra:
        hidden = read()
    return head.total_loss(hidden, labels, smoothing) + extra.total(lambda: outcome(head, hidden, labels))


def agreeing_loss(
    model: nn.Module,
    head: Head,
    read: Callable[[], Tensor],
    labels: Tensor,
    agreement: float,
    smoothing: float = 0.0,
    ignore: int = -100,
) -> Tensor:
    """The same where `read` makes hidden states (2B, T, D) of two passes over each example, which shall agree."""
    with gathering(model) as extra:
        hidden = read()
    real = labels != ignore
    rows = hidden.view(2, *labels.shape, -1)[:, real]
    added = extra.total(lambda: outcome(head, hidden, labels.repeat(2, 1), ignore))
    return head.agreeing_loss(rows, labels[real], agreement, smoothing) + added / 2
