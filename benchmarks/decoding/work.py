"""The work that every side does. Only the standard library may be imported here: it runs in every environment."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.sizes import VOCABULARY

# The layout of Marian's vocabularies: the end comes first; the padding, which also starts the decoder, last.
END, PAD = 0, VOCABULARY - 1
SHORTEST, LONGEST = 15, 25

Row = list[int]


@dataclass(frozen=True)
class Mode:
    """How sentences are translated. `alone`: each in a call of its own, as if the next were not known yet."""

    title: str
    beam: int
    batch: int
    sentences: int
    alone: bool = False


MODES = {
    "beam": Mode("beam 4, batches of 32", beam=4, batch=32, sentences=200),
    "greedy": Mode("greedy, batches of 32", beam=1, batch=32, sentences=200),
    "single": Mode("beam 4, one sentence at a time", beam=4, batch=1, sentences=20, alone=True),
}


def sentences(count: int) -> list[Row]:
    """Random words and the end, the longest first: the order in which CTranslate2 makes its batches."""
    chance = random.Random(0)
    lengths = sorted((chance.randint(SHORTEST, LONGEST) for _ in range(count)), reverse=True)
    return [[*(chance.randrange(END + 1, PAD) for _ in range(length)), END] for length in lengths]


def batches(rows: Sequence[Row], size: int) -> list[Sequence[Row]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
