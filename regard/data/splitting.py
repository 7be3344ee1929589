"""Splitting of pieces while training: the model meets a word in several spellings and learns their parts.

BPE dropout (Provilkov et al. 2020, arXiv:1910.13267) leaves out merges while a text is cut into pieces. Here finished
pieces are split into the two that were merged last, each half again with the same chance: that works on stored tokens,
and uses our own random generator, so that a resumed run draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.integer[Any]]


class Splitter:
    """`halves` (V, 2) are the pieces that each piece was merged of, -1 for one that is whole."""

    def __init__(self, halves: NDArray[np.int64], rate: float) -> None:
        self.halves, self.rate = halves, rate

    def __call__(self, rows: Sequence[Row], random: np.random.Generator) -> list[Row]:
        lengths = [len(row) for row in rows]
        tokens = np.concatenate(rows).astype(np.int64)
        owners = np.repeat(np.arange(len(rows)), lengths)
        may = np.ones(len(tokens), dtype=bool)  # only what was just split may be split again
        while (chosen := may & (self.halves[tokens, 0] >= 0) & (random.random(len(tokens)) < self.rate)).any():
            times = 1 + chosen
            places = np.flatnonzero(chosen) + np.arange(int(chosen.sum()))  # of the left halves
            halves = self.halves[tokens[chosen]]
            tokens, owners = np.repeat(tokens, times), np.repeat(owners, times)
            tokens[places], tokens[places + 1] = halves[:, 0], halves[:, 1]
            may = np.repeat(chosen, times)
        ends = np.cumsum(np.bincount(owners, minlength=len(rows)))
        return np.split(tokens, ends[:-1])
