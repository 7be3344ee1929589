"""Follows a side while it trains, scores what it wrote, and stops it when it is good enough or time is up."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpus_files import raw
from benchmarks.environments import ROOT, UnavailableError
from benchmarks.side import Side
from regard.data.tokenizers import Tokenizer
from regard.metrics.translations import bleu


@dataclass(frozen=True)
class Point:
    """A validation: when it was done, how much of that time went into validations so far, and the score.

    `foreign_cores` is how many cores other processes kept busy until then.
    """

    step: int
    seconds: float
    validating: float
    foreign_cores: float
    bleu: float


@dataclass
class Series:
    side: Side
    points: list[Point] = field(default_factory=list)
    failure: str = ""

    def reached(self, target: float) -> Point | None:
        return next((point for point in self.points if point.bleu >= target), None)


class Scorer:
    """BLEU of sacreBLEU (13a, cased), the same for all sides: on plain text, never on pieces."""

    def __init__(self, corpus: Path) -> None:
        self.tokenizer = Tokenizer.load(corpus / "tokenizer.json")
        self.references = Path(raw(corpus, "valid")["target"]).read_text(encoding="utf-8").splitlines()

    def score(self, hypotheses: list[str], pieces: bool) -> float:
        texts = [self.joined(line) for line in hypotheses] if pieces else hypotheses
        return bleu(texts, self.references)

    def joined(self, line: str) -> str:
        ids = [self.tokenizer.backend.token_to_id(piece) for piece in line.split(" ")]
        return self.tokenizer.decode([i for i in ids if i is not None])


def follow(side: Side, scorer: Scorer, corpus: Path, recipe: Path, every: int, target: float, minutes: float) -> Series:
    series = Series(side)
    try:
        command = [str(side.python()), "-m", f"benchmarks.{side.module}", side.variant]
    except UnavailableError as reason:
        series.failure = str(reason)
        return series
    log = corpus / f"{side.name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*command, str(corpus), str(recipe), str(every)], cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        timer = threading.Timer(60 * minutes, process.terminate)
        timer.start()
        for event in events(process):
            score = scorer.score(event.pop("hypotheses"), event.pop("pieces"))
            series.points.append(Point(bleu=score, **event))
            print(f"{side.name}: step {event['step']}, {event['seconds']:.0f} s, BLEU {score:.2f}", file=sys.stderr)
            if score >= target:
                process.terminate()
                break
        timer.cancel()
        process.wait()
    if not series.points:
        lines = log.read_text().strip().splitlines() or [f"exit code {process.returncode}"]
        series.failure = lines[-1]
    return series


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The JSON lines among what a toolkit prints."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith('{"step"'):
            yield json.loads(line)
