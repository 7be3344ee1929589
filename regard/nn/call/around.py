"""What the `with` blocks around a call say, in its thread: who watches, what is silent, who gathers losses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Protocol, TypeVar

from torch import Tensor, nn


class Concerned(Protocol):
    """What a block says of one model."""

    @property
    def model(self) -> nn.Module: ...


T = TypeVar("T", bound=Concerned)


class Around(Generic[T]):
    """The values of the blocks that are open around this point of this thread, oldest first.

    `torch.compile` cannot read a context variable. So none is read while no thread has a block open; a compiled model
    is compiled anew, with a graph break where it reads the variable, when one opens.
    """

    def __init__(self, name: str) -> None:
        self.values: ContextVar[tuple[T, ...]] = ContextVar(name, default=())
        self.open = 0  # blocks, in all threads
        self.lock = Lock()

    def get(self) -> tuple[T, ...]:
        return self.values.get() if self.open else ()

    def of(self, model: nn.Module) -> T | None:
        """What the newest of them says that concerns this model, or one that it is a part of."""
        return next((one for one in reversed(self.get()) if any(model is part for part in one.model.modules())), None)

    @contextmanager
    def add(self, value: T) -> Iterator[T]:
        """Open a block."""
        self.count(1)
        token = self.values.set((*self.values.get(), value))
        try:
            yield value
        finally:
            self.values.reset(token)
            self.count(-1)

    def count(self, more: int) -> None:
        with self.lock:
            self.open += more


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


watchers: Around[Watcher] = Around("watchers")
silences: Around[Silence] = Around("silences")
