"""What one process measured, as plain values that cross from a peer's environment to the report as one JSON line."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

PAIRS = 64
LENGTH = 20


@dataclass(frozen=True)
class Record:
    """Memory in MiB: resident once the model is built, and the highest it ever was.

    `foreign_cores` is how many cores other processes kept busy meanwhile: near 0, or the figures mean little.
    """

    seconds: list[float]
    first_loss: float
    last_loss: float
    parameters: int
    built_memory: float
    peak_memory: float
    foreign_cores: float

    @property
    def tokens_per_second(self) -> float:
        """Target tokens in the median step."""
        return PAIRS * LENGTH / statistics.median(self.seconds)
