"""What the `with` blocks around a call say, in its thread: who watches, what is silent, who gathers losses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Generic, Protocol, TypeVar

from torch import Tensor, nn


class Concerned(Protocol):
    """What a block says of one model."""

    @property
    def model(self) -> nn.Module: ...


T = TypeVar("T", bound=Concerned)


class Around(local, Generic[T]):
    """The values of the blocks that are open around this point of this thread, oldest first.

    They belong to the thread and stand in no context variable: `torch.compile` traces the one and not the other.
    """

    def __init__(self) -> None:  # once in each thread
        self.values: tuple[T, ...] = ()

    def of(self, model: nn.Module) -> T | None:
        """What the newest of them says that concerns this model, or one that it is a part of."""
        return next((one for one in reversed(self.values) if any(model is part for part in one.model.modules())), None)

    @contextmanager
    def add(self, value: T) -> Iterator[T]:
        """Open a block."""
        before = self.values
        self.values = (*before, value)
        try:
            yield value
        finally:
            self.values = before


Value = Tensor | Callable[[], Tensor]  # a tensor, or what computes it if it is wanted


class Watcher(Protocol):
    """Someone who wants to see what a model computes: its attention weights, and values on the way."""

    model: nn.Module

    def see(self, name: str, weights: Callable[[], Tensor]) -> None:
        """Called once per attention layer; `weights` computes (B, H, T, S) if it is wanted."""

    def note(self, name: str, value: Value) -> None:
        """Called for a value on the way, such as "decoder.3.stream" (B, T, D) or "decoder.3.self.scores"."""


@dataclass(frozen=True)
class Silence:
    """Heads of a model that add nothing: the name of an attention layer → the numbers of its silent heads."""

    model: nn.Module
    heads: Mapping[str, Collection[int]]


watchers: Around[Watcher] = Around()
silences: Around[Silence] = Around()
