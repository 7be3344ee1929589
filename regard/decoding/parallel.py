"""Batches side by side, one core each.

A decoding step is many small operations. Sharing out each of them over all cores costs as much as it gains, and two
threads wait for Python's lock between them. So where there are several batches, a process for each core takes whole
ones. The processes are forked: they see the model without a copy of it, as PyTorch's data loaders see their data.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import active_count
from typing import Any, TypeVar

import torch

from regard.errors import Error

T = TypeVar("T")
R = TypeVar("R")

PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends


def side_by_side(work: Callable[[T], R], batches: Sequence[T], device: torch.device) -> Iterator[R]:
    """What `work` gives for each batch, in their order; on a CPU by as many processes as PyTorch has threads."""
    workers = min(workers_on(device), len(batches))
    if workers < 2:
        yield from map(work, batches)
        return
    with warnings.catch_warnings():  # of PyTorch's own threads, which a worker never uses
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), begin, (work, batches, os.getpid()))
        found = pool.map(run, range(len(batches)))
    try:
        yield from found
    except BrokenProcessPool:
        raise Error("a worker was killed before its batch was done: give smaller batches") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def even(rows: Sequence[T], most: int, device: torch.device) -> list[Sequence[T]]:
    """Rows in batches of at most `most`: where they are several, as many as give each worker the same work."""
    count = -(-len(rows) // most)
    if count > 1:
        workers = workers_on(device)
        count = -(-count // workers) * workers
    size = -(-len(rows) // count) if rows else most
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def workers_on(device: torch.device) -> int:
    """How many processes can work side by side."""
    return torch.get_num_threads() if forkable(device) else 1


def forkable(device: torch.device) -> bool:
    """Whether a copy of this process can go on alone: other threads of Python's might hold a lock that it needs."""
    return sys.platform == "linux" and device.type == "cpu" and active_count() == 1


JOB: list[Callable[[int], Any]] = []  # of a worker: what it does with the batch of a number


def begin(work: Callable[[T], Any], batches: Sequence[T], parent: int) -> None:
    """In a new worker: one thread; and Ctrl-C is the parent's affair, which may want the batch under way. The batches
    came with the copy: sending tensors would leave the parent a thread, and it could never be copied again."""
    end_with(parent)
    JOB[:] = [lambda number: work(batches[number])]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)


def end_with(parent: int) -> None:
    """End this process when its parent does, also where a signal ends that at once: the other workers hold the ends of
    the queue open, so that none of them would ever hear of it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os._exit(1)


def run(number: int) -> Any:
    return JOB[0](number)
