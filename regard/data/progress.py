"""How far a longer job has come: a bar on a terminal, a plain line every few seconds otherwise; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 10.0  # seconds between plain lines
PATIENCE = 2.0  # what is over sooner says nothing

Shown = Callable[[int], str]


@contextmanager
def counting(what: str, total: int | None = None, shown: Shown = "{:,}".format) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many more are done; `shown` says how a count is written."""
    done = 0

    def told() -> str:
        return shown(done) + (f" of {shown(total)}" if total else "")

    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total, told=told())

            def move(more: int) -> None:
                nonlocal done
                done += more
                bar.update(task, advance=more, told=told())

            yield move
        return
    last = time.monotonic() + PATIENCE - EVERY

    def advance(more: int) -> None:
        nonlocal done, last
        done += more
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            print(f"{what}: {told()}", file=sys.stderr, flush=True)

    yield advance


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
