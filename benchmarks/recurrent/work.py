"""The models that are compared, and what each side measures. Only the standard library may be imported here."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

SENTENCES = 256
BATCH = 64  # of them at a time
WRITTEN = 30  # tokens of each output, on all sides


@dataclass(frozen=True)
class Size:
    """Gated units in one layer: `hidden` of them in each direction of the encoder, and in the decoder."""

    width: int
    hidden: int


SIZES = {"small": Size(width=256, hidden=256), "paper": Size(width=620, hidden=1000)}


@dataclass(frozen=True)
class Record:
    """One turn: seconds of each step or of each batch that was written, and of how many tokens."""

    seconds: list[float]
    tokens: int
    parameters: int
    foreign_cores: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / statistics.median(self.seconds)
