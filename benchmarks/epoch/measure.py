"""The time of an epoch, measured inside the environment of the side that trains.

What counts: reading the files, building vocabulary, model and optimiser, batching, and every step to the last of the
epoch. What does not: importing the toolkit, validating, and the checkpoint at the end. Only torch and the standard
library may be imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.command import asked, tell
from benchmarks.epoch.record import Record
from benchmarks.machine import foreign_work, memory
from benchmarks.sizes import THREADS


class EpochOver(Exception):  # noqa: N818
    """Raised by a side out of its toolkit's loop after the last step, so that nothing follows it."""

    def __init__(self, tokens: int, steps: int) -> None:
        super().__init__(f"{tokens} target tokens in {steps} steps")
        self.tokens, self.steps = tokens, steps


# Takes the folder of the corpus and an empty one to write to; returns only by raising EpochOver.
Train = Callable[[Path, Path], None]


def measure(train: Train, corpus: Path) -> Record:
    with TemporaryDirectory(prefix="regard-benchmark-") as home:
        foreign, started = foreign_work(), time.perf_counter()
        try:
            train(corpus, Path(home))
        except EpochOver as over:
            seconds = time.perf_counter() - started
            foreign_cores = (foreign_work() - foreign) / seconds
            return Record(seconds, over.tokens, over.steps, memory("VmHWM"), foreign_cores)
    raise ValueError("training stopped before the end of the epoch")


def main(**variants: Train) -> None:
    """The command line of a side: which variant, where the corpus is; prints one JSON line."""
    train, given = asked(variants, corpus=Path)
    torch.set_num_threads(THREADS)
    tell(measure(train, given.corpus))
