"""The command line of a side."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.finetuning.work import Job, Record

Tune = Callable[[Job], Record]


def main(**variants: Tune) -> None:
    """Which variant, and the job; prints one JSON line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=variants)
    parser.add_argument("home", type=Path)
    parser.add_argument("data")
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int)
    given = parser.parse_args()
    record = variants[given.variant](Job(given.home, given.data, given.seconds, given.seed))
    print(json.dumps(asdict(record)))
