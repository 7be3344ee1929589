"""Batches by token budget: which examples go together, in which order, in which epoch.

Only lengths are looked at; the batches are arrays of indices. The order follows from the seed and the number of the
epoch alone, so that training can go on at any step as if it had never stopped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import Error

Indices = NDArray[np.int64]

POOL_BATCHES = 512
POOL_ROWS = 1 << 16


class Batches:
    """Groups examples of similar length, so that little is padding; every example once an epoch.

    `lengths` has one array a side (source, target), which count everything the model sees. A batch of R rows holds at
    most `budget` tokens on its longest side, padding included: R × longest ≤ budget; and at most `max_rows` rows.
    Where a batch is judged as a `whole`, its examples being compared with each other, it must not be computed in parts.

    An epoch shuffles all examples, sorts them by length within large pools, cuts the pools into batches and shuffles
    the batches. With pools, examples of one length meet new ones in each epoch, and sorting stays quick.
    """

    def __init__(
        self,
        lengths: Sequence[NDArray[np.integer[Any]]],
        budget: int,
        seed: int,
        max_rows: int | None = None,
        whole: bool = False,
    ) -> None:
        if budget < 1 or (max_rows is not None and max_rows < 1):
            raise ValueError(f"a budget of {budget} tokens and {max_rows} rows is not allowed; both take at least 1")
        if not lengths or not len(lengths[0]):
            raise Error("there are no examples to make batches of")
        if len({len(side) for side in lengths}) > 1:
            raise ValueError(f"the sides have different numbers of examples: {[len(side) for side in lengths]}")
        self.lengths = [np.asarray(side, dtype=np.int32) for side in lengths]
        self.budget, self.seed, self.max_rows, self.whole = budget, seed, max_rows, whole
        self._longest = self.lengths[0] if len(lengths) == 1 else np.maximum.reduce(self.lengths)
        _check_longest(self._longest, budget)
        self._pool = self._pool_size()
        self._latest: tuple[int, list[Indices]] | None = None

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._longest)

    def epoch(self, n: int) -> list[Indices]:
        """The batches of an epoch in order, as indices of examples; the same for the same seed and number."""
        if self._latest is None or self._latest[0] != n:
            self._latest = None  # let go of the old epoch before the new one is made
            self._latest = (n, self._make(n))
        return self._latest[1]

    def steps(self, n: int) -> int:
        """The number of batches in an epoch, which varies a little between epochs."""
        return len(self.epoch(n))

    def iterate(self, epoch: int = 0, step: int = 0) -> Iterator[tuple[int, int, Indices]]:
        """(epoch, step in the epoch, indices) without end, from any place on as if it had come there by itself."""
        for number in itertools.count(epoch):
            batches = self.epoch(number)
            for place in range(step, len(batches)):
                yield number, place, batches[place]
            step = max(0, step - len(batches))

    def size(self, epoch: int = 0) -> float:
        """How many tokens a batch of an epoch has on its longest side, on the average, without padding."""
        return float(self._longest.sum(dtype=np.int64)) / max(self.steps(epoch), 1)

    def padding(self, epoch: int = 0) -> float:
        """The share of padding among the tokens of an epoch, all sides together."""
        batches = self.epoch(epoch)
        sizes = np.fromiter(map(len, batches), dtype=np.int64, count=len(batches))
        order = np.concatenate(batches)
        starts = np.cumsum(sizes) - sizes
        padded = sum(int((np.maximum.reduceat(side[order], starts) * sizes).sum()) for side in self.lengths)
        real = sum(int(side.sum(dtype=np.int64)) for side in self.lengths)
        return 1 - real / padded if padded else 0.0

    def _make(self, n: int) -> list[Indices]:
        random = np.random.default_rng([self.seed, n])
        order = np.arange(len(self), dtype=np.int64)
        random.shuffle(order)
        batches: list[Indices] = []
        for start in range(0, len(order), self._pool):
            pool = order[start : start + self._pool]
            pool[:] = pool[self._by_length(pool)]
            batches += self._cut(pool)
        return [batches[i] for i in random.permutation(len(batches))]

    def _pool_size(self) -> int:
        """Examples a pool: many batches' worth, so that neighbours in it have nearly the same length."""
        rows = self.budget / max(1.0, float(self._longest.mean()))
        return max(POOL_ROWS, int(POOL_BATCHES * min(rows, self.max_rows or rows)))

    def _by_length(self, pool: Indices) -> NDArray[np.intp]:
        """By the last side (the target), then by the one before, to and fro: its lengths rise while the target's is
        even and fall while it is odd, so that a batch across the border has no jump in it."""
        keys = [side[pool] for side in self.lengths]
        for i in range(len(keys) - 2, -1, -1):
            keys[i] = np.where(keys[i + 1] % 2, -keys[i], keys[i])
        return np.lexsort(keys)

    def _cut(self, pool: Indices) -> Iterator[Indices]:
        """Greedily: each batch takes as many rows as fit. One step of the loop a batch, none an example."""
        longest = np.maximum(self._longest[pool], 1).astype(np.int64)
        most = self.max_rows or len(pool)
        start = 0
        while start < len(pool):
            ahead = longest[start : start + min(most, self.budget // int(longest[start]))]
            cost = np.maximum.accumulate(ahead) * np.arange(1, len(ahead) + 1)
            rows = int(np.searchsorted(cost, self.budget, side="right"))
            yield pool[start : start + rows]
            start += rows


def pad(rows: Sequence[NDArray[np.integer[Any]]], value: int) -> NDArray[np.int64]:
    """(B, L): the rows below each other, filled up on the right with `value`."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    width = int(lengths.max()) if len(rows) else 0
    padded = np.full((len(rows), width), value, dtype=np.int64)
    if width:
        padded[np.arange(width) < lengths[:, None]] = np.concatenate(rows)
    return padded


def _check_longest(longest: NDArray[np.int32], budget: int) -> None:
    worst = int(longest.argmax())
    if longest[worst] > budget:
        raise Error(
            f"example {worst} has {longest[worst]:,} tokens, more than a batch's budget of {budget:,}: "
            "drop such examples or raise the budget"
        )


ENOUGH = 3 / 8  # of the tokens that are read at once make a batch, where the next row is longer


def by_tokens(rows: Sequence[Sized], most: int, tokens: int) -> Iterator[list[int]]:
    """The numbers of rows of similar length: at most `most`, and no more than `tokens` with their padding; of one
    length where these are enough, since such a batch needs no mask."""
    batch: list[int] = []
    longest = 0
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        full = len(batch) == most or len(rows[i]) * (len(batch) + 1) > tokens
        if batch and (full or (len(rows[i]) > longest and longest * len(batch) >= ENOUGH * tokens)):
            yield batch
            batch = []
        batch.append(i)
        longest = len(rows[i])
    if batch:
        yield batch
