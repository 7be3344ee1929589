"""What the comparisons of translators have in common: who is fair to whom, who is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.lab.experiment import Result, Results
from regard.lab.statistics import Draws, Interval, Resampling, bleu, compared, interval, minus
from regard.page.chart import Point

FAIRNESS = ("parameters", "steps", "seconds")
UNEVEN = 1.15  # times as long


def fairness(results: Results) -> dict[str, list[str]]:
    """Of each contestant: parameters, steps and seconds of training (of the longest seed), as cells of a table."""
    return {
        name: [
            f"{trials[0]['parameters']:,}",
            f"{trials[0]['steps']:,}",
            f"{max(one['seconds'] for one in trials):.0f}",
        ]
        for name, trials in results.items()
    }


def uneven(results: Results) -> list[str]:
    """A sentence where the measured times came out unequal, though they were planned alike."""
    trials = [one for several in results.values() for one in several]
    seconds = [one["seconds"] for one in trials]
    if len({one["steps"] for one in trials}) == 1 or max(seconds) < UNEVEN * min(seconds):
        return []
    return [
        f"the machine was busy: steps were planned for equal times, but took from {min(seconds):.0f} to "
        f"{max(seconds):.0f} seconds a trial"
    ]


def facts(trials: Sequence[Result]) -> dict[str, list[Any]]:
    """What `results.json` states of a contestant's trials."""
    return {key: [trial[key] for trial in trials] for key in ("parameters", "steps", "seconds", "pace", "loss")}


def bleu_by_group(trials: Sequence[Result]) -> list[Draws]:
    """The BLEU of each group of test sentences; those of one group are drawn alike for every contestant."""
    counts = np.array([trial["counts"] for trial in trials])  # (seeds, N, 10)
    ends = np.cumsum([group["sentences"] for group in trials[0]["groups"]])
    parts = np.split(counts, ends[:-1], axis=1)
    return [Resampling(part.shape[1], seed=number)(bleu, part) for number, part in enumerate(parts)]


def ranked(drawn: Mapping[str, Draws], what: str, higher: bool = True) -> str:
    """Who is best by a score, who cannot be told from the best, and by how much the others are worse."""
    order = sorted(drawn, key=lambda name: drawn[name][0], reverse=higher)
    best = order[0]
    gaps = {name: interval(minus(drawn[name], drawn[best])) for name in order[1:]}
    alike = [f"{name} ({gap.signed()})" for name, gap in gaps.items() if compared(gap) == "not decided"]
    worse = [f"{name} ({gap.signed()})" for name, gap in gaps.items() if compared(gap) != "not decided"]
    parts = [f"{'highest' if higher else 'lowest'} {what}: {best}, {interval(drawn[best])}"]
    if alike:
        parts.append(f"not decided against {', '.join(alike)}")
    if worse:
        parts.append(f"{'lower' if higher else 'higher'}: {', '.join(worse)}")
    return "; ".join(parts)


def said(verdict: str, name: str, tolerance: float, along: str) -> str:
    """A verdict of `fall` in words."""
    return {
        "falls": f"{name} falls with {along}",
        "holds": f"{name} holds (it loses less than {tolerance:g})",
        "not decided": f"whether {name} falls with {along} is not decided",
        "too low": f"{name} learnt too little to tell",
    }[verdict]


def sureness(seeds: int, sentences: str) -> str:
    """What the intervals cover."""
    if seeds == 1:
        return f"intervals: 95%, over {sentences}; of one seed, so another may differ by more"
    return f"intervals: 95%, over {sentences} and {seeds} seeds"


def point(x: float, one: Interval) -> Point:
    """An interval, to be drawn at a place."""
    return Point(x, one.value, one.low, one.high)
