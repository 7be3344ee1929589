"""Steps of training and batches of greedy search, timed inside the environment of the side that makes them.

Only torch and the standard library may be imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.command import asked, tell
from benchmarks.machine import foreign_work
from benchmarks.recurrent.work import SENTENCES, SIZES, WRITTEN, Record, Size
from benchmarks.sizes import THREADS
from benchmarks.step.measure import Trainee, trained, training_step
from benchmarks.step.workload import Batch, random_batch

WARM_UP = 2


@dataclass(frozen=True)
class Contender:
    """A model with its loss on a batch, and greedy search that writes (B, WRITTEN) tokens for sources (B, S) of one
    length, `BATCH` at a time, as its toolkit translates a file."""

    model: nn.Module
    loss: Callable[[Batch], Tensor]
    write: Callable[[Tensor], Tensor]


def measure(contender: Contender, mode: str, times: int) -> Record:
    batch = random_batch()
    parameters = sum(parameter.numel() for parameter in trained(contender.model))
    work: Callable[[], Tensor]
    if mode == "train":
        contender.model.train()
        work, tokens = training_step(Trainee(contender.model, lambda: contender.loss(batch))), batch.labels.numel()
    else:
        contender.model.eval()
        sources = batch.source.repeat(SENTENCES // len(batch.source), 1)
        work, tokens = (lambda: contender.write(sources)), SENTENCES * WRITTEN
        if (shape := tuple(work().shape)) != (SENTENCES, WRITTEN):
            raise ValueError(f"the output has shape {shape} instead of {(SENTENCES, WRITTEN)}")
    for _ in range(WARM_UP):
        work()
    seconds, foreign = [], foreign_work()
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return Record(seconds, tokens, parameters, (foreign_work() - foreign) / sum(seconds))


def main(**variants: Callable[[Size], Contender]) -> None:
    """The command line of a side: which variant, size and mode, how many times; prints one JSON line."""
    build, given = asked(variants, size=SIZES.__getitem__, mode=str, times=int)
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    tell(measure(build(given.size), given.mode, given.times))
