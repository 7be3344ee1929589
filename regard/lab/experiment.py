"""What an experiment is: a config, trials that leave a result each, and what is concluded from all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.config import Part, Positive, Size
from regard.page.records import Card, Table

Say = Callable[[str], None]  # takes one line of progress
Result = dict[str, Any]  # of a trial, JSON values alone
Results = Mapping[str, Sequence[Result]]  # of a contestant by its name, one a seed


@dataclass(frozen=True)
class Trial:
    """One contestant with one seed. `run` works in its own folder and continues there after an interruption."""

    contestant: str
    seed: int
    run: Callable[[Path], Result]

    @property
    def name(self) -> str:
        return f"{self.contestant.replace(' ', '-')}-{self.seed}"


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment found: tables, charts with their titles, sentences computed from the numbers, and the
    numbers themselves, by name."""

    tables: Sequence[Table]
    panels: Sequence[Card]
    conclusions: Sequence[str]
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment(Part, family="experiment"):
    """A fair comparison. `budget` is how many minutes all trials train together, `seeds` how often each contestant is
    tried: with one seed nothing follows about the models."""

    budget: Positive = 10.0
    seeds: Size = 3

    def minutes(self) -> float | None:
        """About how long it takes on a quiet machine: the budget, and what preparing and measuring adds. None if only
        timing tells, because a number of steps was asked for."""
        return self.budget

    def trials(self, folder: Path, say: Say) -> Sequence[Trial]:
        """Prepare the experiment's folder, unless that is done already, and list the trials."""
        raise TypeError(f"{type(self).__name__} is a family, not an experiment")

    def outcome(self, results: Results) -> ExperimentResult:
        """What follows from the results: computed from them alone."""
        raise TypeError(f"{type(self).__name__} is a family, not an experiment")
