"""A language of six words that is translated word for word: a small model learns it in seconds."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch

from regard.runfolder import Run
from regard.training.records import read_records

WORDS = ["un", "deux", "trois", "quatre", "cinq", "six"]
MEANINGS = dict(zip(WORDS, ["one", "two", "three", "four", "five", "six"], strict=True))
LONGEST = 5  # words of a sentence, and what the trained models read at most
# Of `regard train`: a small model that learns it.
MODEL = "--tokenizer word --layers 1 --width 32 --heads 2 --hidden 48 --dropout 0".split()
TRAINING = "--batch-tokens 600 --warmup 10 --rate 0.005 --decay 0.98 --validate-every 100".split()


def sentences(count: int, seed: int, longest: int = LONGEST) -> list[str]:
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(count):
        length = int(torch.randint(2, longest + 1, (), generator=generator))
        found.append(" ".join(WORDS[i] for i in torch.randint(0, len(WORDS), (length,), generator=generator).tolist()))
    return found


def meaning(sentence: str) -> str:
    return " ".join(MEANINGS[word] for word in sentence.split())


def write_pairs(path: Path, count: int, seed: int) -> Path:
    """As TSV, or as JSONL with the gold alignment, which is the diagonal."""
    pairs = [(source, meaning(source)) for source in sentences(count, seed)]
    if path.suffix == ".jsonl":
        lines = [json.dumps({"source": s, "target": t, "alignment": diagonal(s)}) for s, t in pairs]
    else:
        lines = [f"{source}\t{target}" for source, target in pairs]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def diagonal(sentence: str) -> str:
    return " ".join(f"{i}-{i}" for i in range(len(sentence.split())))


@dataclass(frozen=True)
class Toy:
    """Files of pairs (train.tsv, valid.jsonl and test.jsonl with gold links, test.tsv) and two runs on them."""

    folder: Path
    good: Path  # translates without a mistake, or nearly
    poor: Path  # was stopped early

    def file(self, name: str) -> Path:
        return self.folder / name


def perform(*words: object) -> None:
    """Run a verb in this process; it must succeed."""
    from regard.cli import main

    assert main([str(word) for word in words]) == 0


def train_toy(folder: Path) -> Toy:
    write_pairs(folder / "train.tsv", 1000, 0)
    write_pairs(folder / "valid.jsonl", 40, 1)
    for name in ("test.tsv", "test.jsonl"):
        write_pairs(folder / name, 60, 2)
    data = ["--train", folder / "train.tsv", "--valid", folder / "valid.jsonl"]
    for name, steps in (("good", "300"), ("poor", "30")):
        options = [*data, *MODEL, *TRAINING, "--max-length", LONGEST + 1, "--max-steps", steps]
        perform("train", "translate", "--run", folder / name, *options)
    return Toy(folder, folder / "good", folder / "poor")


def cut_short(run: Path, copy: Path, *steps: int) -> Run:
    """A copy of a run as it was before these steps were saved."""
    cut = Run(copy)
    shutil.copytree(run, copy)
    for step in steps:
        shutil.rmtree(cut.checkpoint(step))
    return cut


def losses(run: Run) -> list[tuple[int, float]]:
    """(step, loss) as the run records them."""
    return [(record["step"], record["loss"]) for record in read_records(run.metrics_path) if record["event"] == "step"]
