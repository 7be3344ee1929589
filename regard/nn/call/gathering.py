"""Extra losses: what layers leave for the training, and where it finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.nn.call.around import Around


@dataclass(frozen=True)
class Outcome:
    """How a pass went: the log-likelihood (B, T) of each target word, zero for padding, and which are `real`."""

    log_likelihood: Tensor
    real: Tensor


class Losses:
    """What the layers of a model add to the loss of a batch, by the name of the layer.

    A loss is a number (), or a function of the outcome of its pass, for layers that draw and learn by reward. A layer
    that the batch passes several times (two texts, the segments of a long one) leaves a loss in each pass: their mean
    counts, so that the number of passes changes nothing.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.left: dict[str, list[Tensor]] = {}
        self.waiting: list[tuple[str, Callable[[Outcome], Tensor]]] = []

    def leave(self, name: str, loss: Tensor | Callable[[Outcome], Tensor]) -> None:
        """Called by a layer, under its name."""
        if isinstance(loss, Tensor):
            self.left.setdefault(name, []).append(loss)
        else:
            self.waiting.append((name, loss))

    def settle(self, outcome: Callable[[], Outcome]) -> None:
        """Called after a pass by whoever computes the loss of its words; `outcome` is asked for only where a layer
        waits for it."""
        if self.waiting:
            known = outcome()
            for name, loss in self.waiting:
                self.leave(name, loss(known))
            self.waiting = []

    def total(self) -> Tensor | float:
        """The sum over layers, which has the size of a mean loss; 0 where no layer adds anything."""
        if self.waiting:
            names = ", ".join(sorted({name for name, _ in self.waiting}))
            raise ConfigError(
                f"{names}: layers that draw learn by how likely the right words were, and this training does not tell "
                "them: take layers that do not draw, or a task that writes texts"
            )
        total: Tensor | float = 0.0
        for losses in self.left.values():
            total = total + (losses[0] if len(losses) == 1 else torch.stack(losses).mean())
        return total


gatherings: Around[Losses] = Around()


def losses_of(model: nn.Module) -> Losses:
    """Where this model leaves its extra losses in this thread; where nobody gathers them, nobody reads them."""
    return gatherings.of(model) or Losses(model)


@contextmanager
def gathering(model: nn.Module) -> Iterator[Losses]:
    """Gather what the layers of a model add to the loss while the block runs, in this thread."""
    with gatherings.add(Losses(model)) as losses:
        yield losses
