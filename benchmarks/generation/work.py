"""The work that every side does, and what it measured. Only the standard library may be imported here."""

from __future__ import annotations

import random
from dataclasses import dataclass

VOCABULARY, END = 50_257, 50_256
PROMPT, WRITTEN = 32, 128  # tokens
BATCHES = (1, 8)
THREADS = 2

Row = list[int]


@dataclass(frozen=True)
class Record:
    """`outputs` are the tokens of each prompt's continuation. Memory in MiB, the highest it ever was."""

    tokens_per_second: float
    outputs: list[Row]
    peak_memory: float
    foreign_cores: float


def prompts(batch: int) -> list[Row]:
    chance = random.Random(0)
    return [[chance.randrange(END) for _ in range(PROMPT)] for _ in range(batch)]
