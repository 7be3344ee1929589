"""Ctrl-C and SIGTERM while a model is trained: the run ends in order, and the exit code of the program tells of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.training.progress import Progress
    from regard.training.trainer import Trainer

SIGNALED = 128  # what a shell adds to the number of the signal that ended a program


class Interrupted(KeyboardInterrupt):
    """A training was told to end by a signal. `progress` is where it stands; None where a second signal ended it at
    once, so that only what was saved before is kept."""

    def __init__(self, number: int, progress: Progress | None = None) -> None:
        super().__init__(f"signal {number}")
        self.progress = progress
        self.exit_code = SIGNALED + number  # 130 after Ctrl-C, 143 after SIGTERM


@contextmanager
def interruptible(trainer: Trainer) -> Iterator[None]:
    """The first signal ends the run after the step under way, with a checkpoint and a validation; a second one ends it
    at once. Either way the block raises `Interrupted`."""

    def stop(number: int, frame: Any) -> None:
        if trainer.interrupted:
            raise Interrupted(number)
        trainer.interrupted = number

    hears = threading.current_thread() is threading.main_thread()  # no other one does
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM) if hears}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if trainer.interrupted:
        raise Interrupted(trainer.interrupted, trainer.progress)
