"""How sides are compared: each in its own process, in turn, so that noise falls on all alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

from benchmarks.environments import UnavailableError
from benchmarks.machine import foreign_work
from benchmarks.side import Side

QUIET = 0.2  # cores; two threads that wait for each other slow down many times over when a third wants a core
PATIENCE = 60  # seconds to wait for quiet before a turn
ATTEMPTS = 3


class Turn(Protocol):
    """What a side measured, and how many cores others kept busy meanwhile: near 0, or the figures mean little."""

    @property
    def foreign_cores(self) -> float: ...


R = TypeVar("R", bound=Turn)


@dataclass
class Result(Generic[R]):
    """The records of a side, one per round, or the reason why there are none."""

    side: Side
    records: list[R] = field(default_factory=list)
    failure: str = ""


def wait_for_quiet() -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        before = foreign_work()
        time.sleep(1)
        if foreign_work() - before < QUIET:
            return


def undisturbed(take: Callable[[], R], name: str, attempts: int) -> R:
    """A turn during which no other process kept a core busy, or the least disturbed of a few."""
    records: list[R] = []
    for _ in range(attempts):
        wait_for_quiet()
        records.append(take())
        if records[-1].foreign_cores < QUIET:
            break
        print(f"{name}: others used {records[-1].foreign_cores:.2f} cores", file=sys.stderr)
    return min(records, key=lambda record: record.foreign_cores)


def run_rounds(
    sides: Sequence[Side],
    rounds: int,
    take: Callable[[Side], R],
    tell: Callable[[R], str],
    label: str,
    attempts: int = ATTEMPTS,
) -> list[Result[R]]:
    """Every side once per round. A side that fails is left out of the later rounds and of the comparison.

    No `attempts`: a turn is taken as it comes, on a machine as busy as it is; enough to see that everything works.
    """
    results: list[Result[R]] = [Result(side) for side in sides]
    for number in range(1, rounds + 1):
        for result in results:
            if result.failure:
                continue
            side, where = result.side, f"{label}, round {number}/{rounds}, {result.side.name}"
            try:
                record = undisturbed(partial(take, side), side.name, attempts) if attempts else take(side)
            except UnavailableError as reason:
                result.failure, result.records = str(reason), []
                print(f"{where}: not available: {reason}", file=sys.stderr)
                continue
            result.records.append(record)
            print(f"{where}: {tell(record)}", file=sys.stderr)
    return results
