"""From texts to a store of tokens: on all cores, with progress, and continued where it was stopped.

Whatever the texts are, memory holds a few shards of them. A task gives a stream of texts, None where a document ends,
and says which rows it makes of the ids of a shard. It knows nothing of processes, journals or progress bars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding import encoded
from regard.data.growing import GrowingStore, Rows
from regard.data.progress import counting, megabytes
from regard.data.shards import Shard, TokenShard, shards
from regard.data.store import HEADER, Store
from regard.data.tokenizers import Tokenizer

Told = Callable[[int], None]


@dataclass(frozen=True)
class Rowing:
    """How the rows of a store are made of a shard.

    `rows` makes them, each of `sides` sequences of numbers below `limit` (default: the vocabulary). `made` names the
    options that decide what the rows are. With `joined`, the first row of a shard continues the last row of the shard
    before, unless the shard is fresh. The texts of a `group`, such as the two of a pair, stay in one shard."""

    rows: Callable[[TokenShard], Rows]
    sides: int = 1
    limit: int | None = None
    made: str = ""
    joined: bool = False
    group: int = 1


def tokenized(
    folder: Path,
    stream: Iterable[str | None],
    tokenizer: Tokenizer,
    rowing: Rowing,
    say: Callable[[str], None],
    total: Callable[[], int] | None = None,
    most: int | None = None,
    workers: int | None = None,
    what: str = "tokenizing",
) -> Store:
    """The store of a stream of texts in a folder. A whole store is opened; one that was stopped is continued.

    `total` counts the bytes of the texts, for the progress. No more shards are read once the first side has `most`
    tokens. The result is the same for any number of `workers` (default: a process for each core).
    """
    if (folder / HEADER).exists():
        return Store.open(folder)
    limit = rowing.limit or tokenizer.vocabulary
    growing = GrowingStore(folder, limit, rowing.sides, tokenizer.fingerprint, rowing.made)
    with growing, counting(what, total and total(), megabytes) as told:
        say(f"{what}: {megabytes(growing.size)} were done before" if growing.done else what)
        missing = behind(growing, shards(stream, rowing.group), told)
        with closing(encoded(tokenizer, missing, workers)) as found:
            while not (most is not None and growing.tokens >= most) and (shard := next(found, None)) is not None:
                growing.add(shard.mark, rowing.rows(shard), shard.size, rowing.joined and not shard.fresh)
                told(shard.size)
        return growing.finish()


def behind(growing: GrowingStore, every: Iterable[Shard], told: Told) -> Iterator[Shard]:
    """The shards that are not in the store yet."""
    known = list(growing.done)
    place = 0
    for place, shard in enumerate(every, 1):
        if place <= len(known):
            if known[place - 1].mark == shard.mark:
                told(shard.size)
                continue
            growing.keep(place - 1)  # the texts are others from here on
            known = known[: place - 1]
        yield shard
    if place < len(known):
        growing.keep(place)


def document_rows(shard: TokenShard, end: int) -> Rows:
    """A row for each document, with the end between two of them."""
    rows: list[tuple[NDArray[Any]]] = []
    waiting: list[NDArray[Any]] = []
    for ids in shard.texts:
        if ids is None:
            rows.append((np.concatenate([*waiting, np.array([end])]),))
            waiting = []
        else:
            waiting.append(ids)
    return [*rows, (np.concatenate(waiting),)] if waiting else rows
