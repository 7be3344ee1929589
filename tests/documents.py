"""Invented texts of a few sentences: each is about one animal, which decides what it does."""

from __future__ import annotations

import random
from pathlib import Path

DOES = {"cat": ("purrs", "climbs"), "dog": ("barks", "digs"), "bird": ("sings", "flies"), "fish": ("swims", "dives")}
TINY = "--width 32 --layers 2 --heads 2 --hidden 64 --dropout 0 --weight-dropout 0 --context 32".split()
QUICK = "--batch-tokens 800 --optimiser adamw --rate 0.01 --warmup 10".split()


def texts(count: int, seed: int) -> list[list[str]]:
    """Sentences of each text."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        who = draw.choice(sorted(DOES))
        found.append([f"The {who} {draw.choice(DOES[who])}." for _ in range(draw.randint(2, 6))])
    return found


def write_texts(path: Path, count: int, seed: int) -> Path:
    """A sentence a line, an empty line between texts."""
    path.write_text("\n\n".join("\n".join(text) for text in texts(count, seed)) + "\n", encoding="utf-8")
    return path


def training_files(folder: Path) -> list[str]:
    """The options that name texts to train on and others to validate on, which are written here."""
    files = write_texts(folder / "text.txt", 400, 0), write_texts(folder / "held.txt", 60, 1)
    return ["--train", str(files[0]), "--valid", str(files[1])]
