"""Ctrl-C while something is written: what is there is kept. A second one ends the program where it is."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Interrupts:
    """While the block runs, the first Ctrl-C is only remembered; where nothing is there before the end (`kept` is
    false), it ends the block at once."""

    def __init__(self, kept: bool = True) -> None:
        self.kept, self.came = kept, False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        self.came = False
        if self.kept:
            self.before = signal.signal(signal.SIGINT, self.remember)
        return self

    def __exit__(self, *error: object) -> None:
        if self.kept:
            signal.signal(signal.SIGINT, self.before)

    def remember(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.signal(signal.SIGINT, self.before)

    def met(self) -> bool:
        return self.came

    def check(self) -> None:
        """Go no further, if it came."""
        if self.came:
            raise KeyboardInterrupt
