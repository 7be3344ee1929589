"""The work that every side does, and what it measured. Only the standard library may be imported here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

THREADS = 2
TEXTS, JUDGED = "texts.json", "judged.json"  # what is timed; what is scored: set → {"first", "second", "scores"}
VECTORS = "vectors"  # a folder: of each side the vectors of the texts, and of both halves of the judged pairs


@dataclass(frozen=True)
class Record:
    """`batching` is what the side chose of what it was offered."""

    texts_per_second: float
    batching: str
    foreign_cores: float


def timed_texts(folder: Path) -> list[str]:
    found: list[str] = json.loads((folder / TEXTS).read_text(encoding="utf-8"))
    return found


def judged_texts(folder: Path) -> list[str]:
    """Of all sets, the first texts of its pairs and then the second ones."""
    sets = json.loads((folder / JUDGED).read_text(encoding="utf-8"))
    return [text for one in sets.values() for half in ("first", "second") for text in one[half]]
