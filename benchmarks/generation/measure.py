"""Time and memory of writing, measured inside the environment of the side that does it.

The time is from lists of token ids to lists of token ids. Loading and a warm-up do not count. Only the standard library
may be imported here.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

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
    wrong = [len(output) for output in outputs if len(output) != length]
    if wrong or len(outputs) != batch:
        raise ValueError(f"{len(outputs)} of {batch} outputs, some of {wrong[:3]} tokens instead of {length}")
    return Record(times * batch * length / seconds, outputs, memory("VmHWM"), foreign_cores)


def main(**variants: Load) -> None:
    """The command line of a side: which variant, where the models are, what to do; prints one JSON line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=variants)
    parser.add_argument("folder", type=Path)
    parser.add_argument("batch", type=int)
    parser.add_argument("length", type=int)
    parser.add_argument("times", type=int)
    given = parser.parse_args()
    record = measure(variants[given.variant], given.folder, given.batch, given.length, given.times)
    print(json.dumps(asdict(record)))
