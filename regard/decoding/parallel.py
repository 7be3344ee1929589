"""Batches side by side, one core each.

A decoding step is many small operations. Sharing out each of them over all cores costs as much as it gains, so where
there are several batches, each core takes whole ones; PyTorch computes without Python's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], batches: Sequence[T], device: torch.device) -> Iterator[R]:
    """What `work` gives for each batch, in their order; on a CPU with as many workers as PyTorch has threads."""
    threads = torch.get_num_threads()
    if device.type != "cpu" or min(threads, len(batches)) == 1:
        yield from map(work, batches)
        return
    try:
        with ThreadPoolExecutor(threads, initializer=lambda: torch.set_num_threads(1)) as pool:
            yield from pool.map(work, batches)
    finally:
        torch.set_num_threads(threads)  # part of the setting is the whole process's
