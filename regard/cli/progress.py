"""How far a longer job has come: a bar on a terminal, a plain line every few seconds otherwise; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 10.0  # seconds between plain lines
PATIENCE = 2.0  # what is over sooner says nothing


@contextmanager
def counting(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many more are done."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda more: bar.advance(task, more)
        return
    done, last = 0, time.monotonic() + PATIENCE - EVERY

    def advance(more: int) -> None:
        nonlocal done, last
        done += more
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            print(f"{what}: {done:,}" + (f" of {total:,}" if total else ""), file=sys.stderr, flush=True)

    yield advance


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
