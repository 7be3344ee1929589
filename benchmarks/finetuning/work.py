"""The work that both sides do, and what they measured. Only the standard library may be imported here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

THREADS = 2
ENDLESS = 10**6  # steps: the clock ends a training


@dataclass(frozen=True)
class Job:
    """`home` has `minilm`, `regard`, and a folder with `train.jsonl` and `valid.jsonl` for each set."""

    home: Path
    data: str
    seconds: float
    seed: int

    @property
    def recipe(self) -> Path:
        """Ours for the set."""
        return Path(__file__).parents[2] / "recipes" / f"{self.data}-minilm.yaml"

    def file(self, split: str) -> Path:
        return self.home / self.data / f"{split}.jsonl"

    def examples(self, split: str) -> tuple[list[str], list[str]]:
        """Texts and labels."""
        found = [json.loads(line) for line in self.file(split).read_text(encoding="utf-8").splitlines()]
        return [one["text"] for one in found], [one["label"] for one in found]


@dataclass(frozen=True)
class Record:
    """Accuracy of the weights at the end, and how often the training texts were read. Loading, tokenizing and scoring
    do not count in the seconds."""

    accuracy: float
    seconds: float
    steps: int
    epochs: float
    foreign_cores: float
