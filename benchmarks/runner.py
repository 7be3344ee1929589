"""Which sides there are, and how they run: each in its own process, in turn, so that noise falls on all alike."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.environments import Environment, UnavailableError, call
from benchmarks.machine import foreign_work
from benchmarks.record import Record

QUIET = 0.2  # cores; two threads that wait for each other slow down many times over when a third wants a core
PATIENCE = 60  # seconds to wait for quiet before a turn
ATTEMPTS = 3


@dataclass(frozen=True)
class Side:
    """A row of the table. `environment` none: the one this program runs in."""

    name: str
    title: str
    module: str
    variant: str = "default"
    environment: Environment | None = None
    ours: bool = False

    def python(self) -> Path:
        return Path(sys.executable) if self.environment is None else self.environment.python()

    def run(self, size: str, steps: int) -> Record:
        module = f"benchmarks.sides.{self.module}"
        output = call(str(self.python()), "-m", module, self.variant, size, str(steps))
        return Record(**json.loads(output.splitlines()[-1]))  # a toolkit may print before it


SIDES = (
    Side("regard", "regard", "regard_side", "matched", ours=True),
    Side("regard-paper", "regard (the paper's dropout)", "regard_side", "paper", ours=True),
    Side("torch", "torch.nn.Transformer (fused AdamW)", "torch_side", "fused"),
    Side("torch-unfused", "torch.nn.Transformer", "torch_side", "unfused"),
    Side("marian", "transformers, MarianMT", "marian_side"),
    Side("opennmt", "OpenNMT-py", "opennmt_side", environment=Environment("opennmt", "OpenNMT-py", "3.0.4")),
    Side("joeynmt", "JoeyNMT", "joeynmt_side", environment=Environment("joeynmt", "joeynmt", "2.3.0")),
)


@dataclass
class Result:
    """The records of a side, one per round, or the reason why there are none."""

    side: Side
    records: list[Record] = field(default_factory=list)
    failure: str = ""


def wait_for_quiet() -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        before = foreign_work()
        time.sleep(1)
        if foreign_work() - before < QUIET:
            return


def undisturbed(side: Side, size: str, steps: int) -> Record:
    """A turn during which no other process kept a core busy, or the least disturbed of a few."""
    records: list[Record] = []
    for _ in range(ATTEMPTS):
        wait_for_quiet()
        records.append(side.run(size, steps))
        if records[-1].foreign_cores < QUIET:
            break
        print(f"{side.name}: others used {records[-1].foreign_cores:.2f} cores", file=sys.stderr)
    return min(records, key=lambda record: record.foreign_cores)


def run_rounds(sides: Sequence[Side], size: str, rounds: int, steps: int) -> list[Result]:
    """Every side once per round. A side that fails is left out of the later rounds and of the comparison."""
    results = [Result(side) for side in sides]
    for number in range(1, rounds + 1):
        for result in results:
            if result.failure:
                continue
            label = f"{size}, round {number}/{rounds}, {result.side.name}"
            try:
                record = undisturbed(result.side, size, steps)
            except UnavailableError as reason:
                result.failure, result.records = str(reason), []
                print(f"{label}: not available: {reason}", file=sys.stderr)
                continue
            result.records.append(record)
            print(f"{label}: {record.tokens_per_second:,.0f} tokens/s", file=sys.stderr)
    return results
