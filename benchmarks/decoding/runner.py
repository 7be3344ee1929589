"""Which sides there are, and how they run: weights are made once, then the sides take turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.decoding.record import Record
from benchmarks.environments import CTRANSLATE2, UnavailableError, call
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side

OURS, TRANSFORMERS = "regard", "transformers"


def ctranslate2(variant: str, title: str) -> Side:
    name = f"ct2-{variant.replace('_', '-')}"
    return Side(name, f"CTranslate2 {title}", "decoding.sides.ctranslate2_side", variant, CTRANSLATE2)


SIDES = (
    Side(OURS, "regard", "decoding.sides.regard_side", ours=True),
    Side(TRANSFORMERS, "transformers, MarianMT", "decoding.sides.marian_side"),
    ctranslate2("fp32", "fp32"),
    ctranslate2("fp32_workers", "fp32, two workers"),
    ctranslate2("fp32_onednn", "fp32, oneDNN"),
    ctranslate2("fp32_onednn_workers", "fp32, oneDNN, two workers"),
    ctranslate2("int8", "int8"),
    ctranslate2("int8_workers", "int8, two workers"),
    ctranslate2("int8_onednn", "int8, oneDNN"),
    ctranslate2("int8_onednn_workers", "int8, oneDNN, two workers"),
)
RIVALS = tuple(side.name for side in SIDES if side.name.startswith("ct2-fp32"))


def useful(side: Side, alone: bool) -> bool:
    """A second worker has nothing to do while sentences come one by one."""
    return not (alone and side.variant.endswith("workers"))


@contextmanager
def weights(size: str) -> Iterator[Path]:
    """A folder with the model of this size as each side reads it, until it is no longer needed."""
    with TemporaryDirectory(prefix="regard-benchmark-") as folder:
        print(f"{size}: making weights", file=sys.stderr)
        call(sys.executable, "-m", "benchmarks.decoding.prepare", size, folder)
        try:
            call(str(CTRANSLATE2.python()), "-m", "benchmarks.decoding.convert", folder)
        except UnavailableError as reason:
            print(f"{size}: no conversion for CTranslate2: {reason}", file=sys.stderr)
        yield Path(folder)


def run(
    sides: Sequence[Side], folder: Path, size: str, mode: str, sentences: int, length: int, rounds: int, smoke: bool
) -> list[Result[Record]]:
    return run_rounds(
        sides,
        rounds,
        take=lambda side: Record(**side.run(folder, mode, sentences, length)),
        tell=lambda record: f"{record.sentences_per_second:,.1f} sentences/s",
        label=f"{size}, {mode}",
        attempts=0 if smoke else ATTEMPTS,
    )
