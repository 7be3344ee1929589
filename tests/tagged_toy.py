"""A language whose tags are told by the next word, so that a tagger must read on; a small model soon does."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from regard.data.tagged import Tagged
from tests.toy import sentences

SMALL = "--width 24 --hidden 24 --dropout 0 --states-dropout 0 --optimiser adamw --rate 0.01 --batch-tokens 400".split()


def tagged(count: int, seed: int) -> list[Tagged]:
    """A word is UP before one that is later in the alphabet, DOWN before any other, and LAST at the end."""
    found = []
    for text in sentences(count, seed):
        words = text.split()
        tags = ["UP" if one < other else "DOWN" for one, other in itertools.pairwise(words)]
        found.append(Tagged(tuple(words), (*tags, "LAST")))
    return found


def write_tagged(path: Path, count: int, seed: int) -> Path:
    """As lines, or as JSONL."""
    if path.suffix == ".jsonl":
        lines = [json.dumps({"words": one.words, "tags": one.tags}) for one in tagged(count, seed)]
    else:
        lines = [
            "".join(f"{w}\t{t}\n" for w, t in zip(one.words, one.tags, strict=True)) for one in tagged(count, seed)
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_sentences(path: Path, count: int, seed: int) -> Path:
    path.write_text("".join(f"{text}\n" for text in sentences(count, seed)), encoding="utf-8")
    return path
