"""Invented reviews of a few sentences; one word of each decides what it is, so that a small model learns them."""

from __future__ import annotations

import random
from pathlib import Path

VERDICTS = {"good": ("fine", "lovely"), "bad": ("dull", "awful"), "odd": ("strange", "weird")}
DETAILS = ("The film is long.", "We saw it in May.", "It has two parts.", "They sing a song.", "A dog runs.")
MODEL = "--width 16 --hidden 12 --dropout 0 --pooled-dropout 0".split()
TRAINING = "--batch-texts 16 --rate 0.01 --warmup 5 --validate-every 40 --max-steps 80".split()


def review(label: str, draw: random.Random) -> str:
    sentences = [*draw.choices(DETAILS, k=draw.randint(1, 3)), f"It is a {draw.choice(VERDICTS[label])} one."]
    draw.shuffle(sentences)
    return " ".join(sentences)


def reviews(count: int, seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    labels = [draw.choice(sorted(VERDICTS)) for _ in range(count)]
    return [(review(label, draw), label) for label in labels]


def write_reviews(path: Path, count: int, seed: int) -> Path:
    path.write_text("".join(f"{text}\t{label}\n" for text, label in reviews(count, seed)), encoding="utf-8")
    return path
