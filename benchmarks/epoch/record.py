"""What one process measured, as plain values that cross from a peer's environment to the report as one JSON line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """Target tokens with their ends, without padding. Memory in MiB, the highest it ever was."""

    seconds: float
    tokens: int
    steps: int
    peak_memory: float
    foreign_cores: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds
