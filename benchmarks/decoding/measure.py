"""Time and memory of translating, measured inside the environment of the side that does it.

What counts is the time from lists of token ids to lists of token ids, padding included. Loading the model and a
warm-up do not count. Only the standard library may be imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.command import asked, check_lengths, tell
from benchmarks.decoding.record import Record
from benchmarks.decoding.work import MODES, Mode, Row, sentences
from benchmarks.machine import foreign_work, memory

WARM_UP = 2  # batches: one for each worker

# Rows → the best output of each, all of them of this many tokens, which are asked for when loading.
Translate = Callable[[Sequence[Row]], list[Row]]
Load = Callable[[Path, Mode, int], Translate]


def measure(load: Load, folder: Path, mode: Mode, count: int, length: int) -> Record:
    started = time.perf_counter()
    translate = load(folder, mode, length)
    load_seconds = time.perf_counter() - started
    rows = sentences(count)
    calls = [[row] for row in rows] if mode.alone else [rows]
    for call in calls[:WARM_UP]:
        translate(call[: WARM_UP * mode.batch])
    foreign = foreign_work()
    started = time.perf_counter()
    outputs = [output for call in calls for output in translate(call)]
    seconds = time.perf_counter() - started
    foreign_cores = (foreign_work() - foreign) / seconds
    check_lengths(outputs, count, length)
    return Record(seconds, load_seconds, outputs, memory("VmHWM"), foreign_cores)


def main(**variants: Load) -> None:
    """The command line of a side: which variant, where the models are, what to do; prints one JSON line."""
    load, given = asked(variants, folder=Path, mode=MODES.__getitem__, count=int, length=int)
    tell(measure(load, given.folder, given.mode, given.count, given.length))
