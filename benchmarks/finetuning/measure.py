"""The command line of a side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.command import asked, tell
from benchmarks.finetuning.work import Job, Record

Tune = Callable[[Job], Record]


def main(**variants: Tune) -> None:
    """Which variant, and the job; prints one JSON line."""
    tune, given = asked(variants, home=Path, data=str, seconds=float, seed=int)
    tell(tune(Job(given.home, given.data, given.seconds, given.seed)))
