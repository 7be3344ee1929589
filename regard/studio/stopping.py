"""Work that nobody waits for any more ends between two layers of the model, wherever in decoding it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn


class StoppedError(Exception):
    """Raised inside work that should go no further."""


class Stopper:
    """Says when to stop: after `seconds`, or once someone has called `stop`."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def left(self) -> float:
        """Seconds that remain."""
        return max(self.end - time.monotonic(), 0.0)

    def check(self, *progress: Any) -> None:
        """Raise `StoppedError` once it is time to stop. Any arguments are taken: it serves as a callback."""
        if self._stopped.is_set() or time.monotonic() > self.end:
            raise StoppedError

    @contextmanager
    def on(self, model: nn.Module) -> Iterator[None]:
        """While the block runs in this thread, every attention layer of the model asks whether to go on.

        A watcher is called by each of them and need not look at anything: it costs a call.
        """
        from regard.nn.call.around import watchers

        with watchers.add(_Asking(model, self.check)):
            yield


class _Asking:
    """A `Watcher` that sees nothing."""

    def __init__(self, model: nn.Module, check: Callable[[], None]) -> None:
        self.model, self.check = model, check

    def see(self, name: str, weights: Any) -> None:
        self.check()

    def note(self, name: str, value: Any) -> None:
        """Ignored."""
