"""Texts a second, measured inside the environment of the side that embeds them: from text to normed vectors in memory.

Loading does not count. A side may know several ways to batch: each is tried on a part of the texts, and the quickest is
timed on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import asked, tell
from benchmarks.embedding.work import VECTORS, Record, judged_texts, timed_texts
from benchmarks.machine import foreign_work

Embed = Callable[[Sequence[str]], NDArray[Any]]  # (texts, width), in their order
Ways = Mapping[str, Embed]
Load = Callable[[Path], Ways]
TRIED = 5  # one text of so many, where ways to batch are compared


def measure(ways: Ways, folder: Path, name: str, times: int) -> Record:
    texts = timed_texts(folder)
    batching = quickest(ways, texts[::TRIED])
    embed = ways[batching]
    foreign, started = foreign_work(), time.perf_counter()
    for _ in range(times):
        vectors = embed(texts)
    seconds = time.perf_counter() - started
    foreign_cores = (foreign_work() - foreign) / seconds
    (folder / VECTORS).mkdir(exist_ok=True)
    np.save(folder / VECTORS / f"{name}.npy", np.asarray(vectors, dtype=np.float32))
    np.save(folder / VECTORS / f"{name}-judged.npy", np.asarray(embed(judged_texts(folder)), dtype=np.float32))
    return Record(times * len(texts) / seconds, batching, foreign_cores)


def quickest(ways: Ways, texts: Sequence[str]) -> str:
    """Also what warms up."""
    seconds = {}
    for name, embed in ways.items():
        embed(texts[: len(texts) // 4])
        started = time.perf_counter()
        embed(texts)
        seconds[name] = time.perf_counter() - started
    return min(seconds, key=lambda name: seconds[name])


def main(**variants: Load) -> None:
    """The command line of a side: which variant, where its files are, its name, how often; prints one JSON line."""
    load, given = asked(variants, folder=Path, name=str, times=int)
    tell(measure(load(given.folder), given.folder, given.name, given.times))
