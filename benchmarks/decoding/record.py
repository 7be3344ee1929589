"""What one process measured, as plain values that cross from a peer's environment to the report as one JSON line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """`outputs` are the tokens of each sentence. Memory in MiB, the highest it ever was."""

    seconds: float
    load_seconds: float
    outputs: list[list[int]]
    peak_memory: float
    foreign_cores: float

    @property
    def sentences_per_second(self) -> float:
        return len(self.outputs) / self.seconds
