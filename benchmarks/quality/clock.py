"""The clock of a side, inside its process: tells of every validation as one JSON line.

It runs from when the toolkit has been imported. All that follows counts, validation as well: on both sides a
validation is the loss of all held-out sentences, their greedy translation, and a checkpoint. How much of the time
went into it is told beside. Only torch and the standard library may be imported here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.command import asked
from benchmarks.machine import foreign_work
from benchmarks.sizes import THREADS


class Clock:
    def __init__(self) -> None:
        self.started, self.validating, self.foreign = time.perf_counter(), 0.0, foreign_work()

    @contextmanager
    def validation(self) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.validating += time.perf_counter() - begun

    def tell(self, step: int, hypotheses: list[str], pieces: bool) -> None:
        """`pieces`: the hypotheses are pieces with spaces between, which the reader has to join."""
        seconds = time.perf_counter() - self.started
        foreign_cores = (foreign_work() - self.foreign) / seconds
        event = {"step": step, "seconds": seconds, "validating": self.validating, "foreign_cores": foreign_cores}
        print(json.dumps({**event, "pieces": pieces, "hypotheses": hypotheses}), flush=True)


# The clock, the folder of the corpus, an empty one to write to, our recipe, steps between validations.
Train = Callable[[Clock, Path, Path, Path, int], None]


def main(**variants: Train) -> None:
    """The command line of a side: which variant, where everything is, how often to validate."""
    train, given = asked(variants, corpus=Path, recipe=Path, validate_every=int)
    torch.set_num_threads(THREADS)
    with TemporaryDirectory(prefix="run-", dir=given.corpus) as home:
        train(Clock(), given.corpus, Path(home), given.recipe, given.validate_every)
