"""How the batches of a training are shared out over processes: the trainer is given one strategy and asks no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from regard.data.batches import Indices
from regard.fast.device import put_random_state, random_state

T = TypeVar("T")
Groups = Sequence[Indices]  # the batches of one optimiser step, each by the numbers of its examples
Loss = Callable[[Indices], tuple[Tensor, int]]  # the summed loss of some examples, and over how many tokens it is
Summed = tuple[Tensor | float, int]  # a summed loss without its graph, and over how many tokens it is
Share = tuple[Groups, Sequence[int]]  # what a rank computes of each batch, and the seed that it draws from there


class StrategyError(RuntimeError):
    """A process could not do its share; the message says why."""


class Strategy:
    """A training by `ranks` processes, of which this one is `rank`; each batch is shared out over all of them.

    A strategy says what each rank computes and draws, sums losses and gradients over all, and ends its processes.
    Another one (torch.distributed) implements `backward`: `compute` the share of its rank, then reduce gradients, loss
    and tokens over all ranks; and `agreed`: broadcast from rank 0. There every rank runs the whole loop.
    """

    rank = 0
    ranks = 1

    def begin(self, model: nn.Module, loss: Loss) -> None:
        """Called once, before anybody else keeps hold of the model's weights: a strategy may move them in memory."""
        self.device = next(model.parameters()).device
        self.loss = loss

    def backward(self, groups: Groups) -> Summed:
        """The loss of some batches, summed over all ranks; its gradient is left with the parameters."""
        raise TypeError(f"{type(self).__name__} shares out no batches")

    def agreed(self, value: T) -> T:
        """The value of the rank that writes, for all: what a clock, a signal or a validation decides."""
        return value

    @property
    def writes(self) -> bool:
        """Whether this process validates, writes files and tells people."""
        return self.rank == 0

    @property
    def about(self) -> str:
        """What people are told of it, in a sentence; empty where there is nothing to tell."""
        return ""

    def close(self) -> None:
        """End the processes that it began."""

    # --- what every strategy is made of ---

    def shares(self, groups: Groups) -> list[Share]:
        """The share of each rank. Rows are dealt out in turns: a batch is ordered by length, and every share shall have
        as much to do. What a share draws follows from a seed drawn here, so that it can be computed anywhere to the
        same gradient, and a resumed run continues to the same losses."""
        seeds = torch.randint(1 << 62, (self.ranks, len(groups))).tolist()
        return [([batch[rank :: self.ranks] for batch in groups], seeds[rank]) for rank in range(self.ranks)]

    def compute(self, groups: Groups, seeds: Sequence[int] | None = None) -> Summed:
        """Loss and gradient of some batches, or of shares of them, each from its seed, in this process."""
        before = random_state(self.device) if seeds else {}
        total: Tensor | float = 0.0
        count = 0
        for number, indices in enumerate(groups):
            if not len(indices):  # a share of a batch with fewer rows than there are ranks
                continue
            if seeds:
                torch.manual_seed(seeds[number])
            loss, tokens = self.loss(indices)
            torch.autograd.backward(loss)
            total, count = total + loss.detach(), count + tokens
        if seeds:
            put_random_state(before)
        return total, count


class Alone(Strategy):
    """This process computes each batch as a whole, and draws as it goes."""

    backward = Strategy.compute
