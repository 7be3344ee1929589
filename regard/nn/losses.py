"""Named extra losses: what a layer adds to the loss of the task, while training, beside what it computes.

A layer leaves them in `context.losses` under its own name; a task gathers those of all passes of a model and adds them:

    loss = words_loss(model, model.head, lambda: model.features(...), labels)

An extra loss has the size of a mean: one of 2 adds 2 to the mean loss of the words, however many there are. A batch may
be computed in parts (batches of a step, processes), and the loss of a task is a sum over words for that reason. So an
extra loss counts there as often as there are words, and of several parts the mean counts in which each word has the
same say. Validation judges by the words alone. Who adds nothing must not drop it silently: `nothing_dropped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.nn.context import Gathering, Losses, Outcome, gatherings
from regard.nn.heads import Head

IGNORED = -100  # the label of what is not a real word


@dataclass(frozen=True)
class Extra:
    """The extra losses that were gathered."""

    losses: Losses

    def total(self, outcome: Callable[[], Outcome]) -> Tensor | float:
        """Their sum, of the size of a mean over words; zero where there are none. `outcome` is asked for only where a
        loss depends on it."""
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


@contextmanager
def nothing_dropped(model: nn.Module) -> Iterator[None]:
    """Around what computes a loss for training: refuse a model whose layers left extra losses that nobody gathered."""
    with gathering(model) as left:
        yield
    if left.losses:
        raise ConfigError(
            f"layers of this model add to the loss ({', '.join(left.losses)}), and what it is trained for would drop "
            "that: train it by one of the tasks translate and lm, or take a model without such layers"
        )


@torch.no_grad()
def outcome(head: Head, hidden: Tensor, labels: Tensor, ignore: int = IGNORED) -> Outcome:
    """How likely a head finds the labels (B, T), given hidden states (B, T, D); those to `ignore` are not real."""
    real = labels != ignore
    chosen = head.log_probs(hidden).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return Outcome(chosen.masked_fill(~real, 0.0), real)


def words_loss(
    model: nn.Module, head: Head, read: Callable[[], Tensor], labels: Tensor, smoothing: float = 0.0
) -> Tensor:
    """The summed loss of words (B, T), given the hidden states that `read` makes; while training with all that layers
    add to it."""
    with gathering(model) as extra:
        hidden = read()
    loss = head.total_loss(hidden, labels, smoothing)
    if not (extra.losses and model.training):
        return loss
    return loss + extra.total(lambda: outcome(head, hidden, labels)) * (labels != IGNORED).sum()


def agreeing_loss(
    model: nn.Module,
    head: Head,
    read: Callable[[], Tensor],
    labels: Tensor,
    agreement: float,
    smoothing: float = 0.0,
    ignore: int = IGNORED,
) -> Tensor:
    """The same where `read` makes hidden states (2B, T, D) of two passes over each example, which shall agree."""
    with gathering(model) as extra:
        hidden = read()
    real = labels != ignore
    rows = hidden.view(2, *labels.shape, -1)[:, real]
    loss = head.agreeing_loss(rows, labels[real], agreement, smoothing)
    if not (extra.losses and model.training):
        return loss
    return loss + extra.total(lambda: outcome(head, hidden, labels.repeat(2, 1), ignore)) * real.sum()
