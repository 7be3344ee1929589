"""Time and memory of writing, measured inside the environment of the side that does it.

The time is from lists of token ids to lists of token ids. Loading and a warm-up do not count. Only the standard library
may be imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.command import asked, check_lengths, tell
from benchmarks.generation.work import Record, Row, prompts
from benchmarks.machine import foreign_work, memory

# Prompts and a length → that many tokens after each, the likeliest ones.
Write = Callable[[Sequence[Row], int], list[Row]]
Load = Callable[[Path], Write]
WARM_UP = 4  # tokens


def measure(load: Load, folder: Path, batch: int, length: int, times: int) -> Record:
    write, rows = load(folder), prompts(batch)
    write(rows, WARM_UP)
    foreign, started = foreign_work(), time.perf_counter()
    for _ in range(times):
        outputs = write(rows, length)
    seconds = time.perf_counter() - started
    foreign_cores = (foreign_work() - foreign) / seconds
    check_lengths(outputs, batch, length)
    return Record(times * batch * length / seconds, outputs, memory("VmHWM"), foreign_cores)


def main(**variants: Load) -> None:
    """The command line of a side: which variant, where the models are, what to do; prints one JSON line."""
    load, given = asked(variants, folder=Path, batch=int, length=int, times=int)
    tell(measure(load, given.folder, given.batch, given.length, given.times))
