"""How far a longer job has come: a bar on a terminal, a plain line every few seconds otherwise; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN_LINES = 10.0  # where standard error is no terminal
SECONDS_OF_SILENCE = 2.0  # a shorter job shows no progress

Shown = Callable[[int], str]


@contextmanager
def counting(
    what: str, total: int | None = None, shown: Shown = "{:,}".format, bar: bool = True
) -> Iterator[Callable[[int], None]]:
    """A function to call with how many more are done; `shown` formats a count. Without a `bar` a terminal shows
    nothing, because it shows another bar already."""
    done = 0

    def told() -> str:
        return shown(done) + (f" of {shown(total)}" if total else "")

    if sys.stderr.isatty() and not bar:
        yield lambda more: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
            task = drawn.add_task(what, total=total, told=told())

            def move(more: int) -> None:
                nonlocal done
                done += more
                drawn.update(task, advance=more, told=told())

            yield move
        return
    last = time.monotonic() + SECONDS_OF_SILENCE - SECONDS_BETWEEN_LINES

    def advance(more: int) -> None:
        nonlocal done, last
        done += more
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"{what}: {told()}", file=sys.stderr, flush=True)

    yield advance


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
