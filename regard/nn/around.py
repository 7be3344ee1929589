"""What the `with` blocks around a call say, in its thread: who watches, what is silent, who gathers losses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


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
