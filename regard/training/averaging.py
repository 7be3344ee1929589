"""Averaged weights: what is validated and kept is a mean over the last part of training, which scores higher."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.checkpoint import lasting, weights_of
from regard.config import Part, Rate, Size
from regard.fast.operators import move_each


@dataclass(frozen=True)
class AverageConfig(Part, family="average"):
    """How weights are averaged over steps."""

    def build(self, model: nn.Module) -> Average:
        raise TypeError(f"{type(self).__name__} is a family, not an average")


class Average:
    """Follows a model step by step. The base follows without averaging."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def update(self, step: int) -> None:
        """After each optimiser step."""

    def weights(self) -> dict[str, Tensor]:
        """The averaged weights by name."""
        return weights_of(self.model)

    def state(self) -> dict[str, Tensor]:
        """What must be saved beside the model's own weights to go on exactly."""
        return {}

    def put_state(self, state: dict[str, Tensor]) -> None:
        """The opposite of `state`."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model has the averaged weights inside the block, and its own again after it."""
        parameters = lasting(self.model)
        own = {name: parameter.detach().clone() for name, parameter in parameters.items()}
        averaged = self.weights()
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(averaged[name])
        try:
            yield
        finally:
            with torch.no_grad():
                for name, parameter in parameters.items():
                    parameter.copy_(own[name])


@dataclass(frozen=True)
class NoAverage(AverageConfig, kind="none"):
    """The weights as they are."""

    def build(self, model: nn.Module) -> Average:
        return Average(model)


@dataclass(frozen=True)
class Exponential(AverageConfig, kind="exponential"):
    """A moving mean that forgets at rate 1 - `decay`; faster at first, so that the start does not linger."""

    decay: Rate = 0.998

    def build(self, model: nn.Module) -> Average:
        return ExponentialAverage(model, self.decay)


class ExponentialAverage(Average):
    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__(model)
        self.decay = decay
        self.parameters = [tensor.detach() for tensor in lasting(model).values()]
        self.mean = [parameter.clone() for parameter in self.parameters]

    def update(self, step: int) -> None:
        decay = min(self.decay, step / (step + 10))
        move_each(self.mean, self.parameters, 1 - decay)

    def weights(self) -> dict[str, Tensor]:
        return dict(zip(weights_of(self.model), self.mean, strict=True))

    def state(self) -> dict[str, Tensor]:
        return self.weights()

    def put_state(self, state: dict[str, Tensor]) -> None:
        for name, mean in self.weights().items():
            mean.copy_(state[name])


@dataclass(frozen=True)
class Last(AverageConfig, kind="last"):
    """The mean of the last `count` snapshots, one `every` so many steps. Vaswani et al. 2017, section 6.1"""

    count: Size = 5
    every: Size = 100

    def build(self, model: nn.Module) -> Average:
        return LastAverage(model, self.count, self.every)


class LastAverage(Average):
    """Before the first snapshot the weights are the model's own."""

    def __init__(self, model: nn.Module, count: int, every: int) -> None:
        super().__init__(model)
        self.every = every
        self.snapshots: deque[dict[str, Tensor]] = deque(maxlen=count)

    def update(self, step: int) -> None:
        if step % self.every == 0:
            self.snapshots.append({name: weight.clone() for name, weight in weights_of(self.model).items()})

    def weights(self) -> dict[str, Tensor]:
        if not self.snapshots:
            return super().weights()
        names = self.snapshots[0]
        return {name: torch.stack([snapshot[name] for snapshot in self.snapshots]).mean(0) for name in names}

    def state(self) -> dict[str, Tensor]:
        return {
            f"{number}/{name}": weight
            for number, snapshot in enumerate(self.snapshots)
            for name, weight in snapshot.items()
        }

    def put_state(self, state: dict[str, Tensor]) -> None:
        found: dict[int, dict[str, Tensor]] = defaultdict(dict)
        for key, weight in state.items():
            number, _, name = key.partition("/")
            found[int(number)][name] = weight
        self.snapshots.extend(found[number] for number in sorted(found))
