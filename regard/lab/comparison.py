"""What comparisons have in common: how fair they were, who is better, how sure that is, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.lab.experiment import Result, Results
from regard.metrics.statistics import Contest, Interval, Resampling, SeedScores, bleu, compared
from regard.page.records import Point

FAIRNESS = ("parameters", "steps", "seconds")
UNEVEN_RATIO = 1.15  # slowest trial to quickest trial
MIN_BLEU = 10.0  # a translator below this has learnt too little to be compared


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
    if len({one["steps"] for one in trials}) == 1 or max(seconds) < UNEVEN_RATIO * min(seconds):
        return []
    return [
        f"The machine was busy: steps were planned for equal times, but took from {min(seconds):.0f} to "
        f"{max(seconds):.0f} seconds a trial."
    ]


def facts(trials: Sequence[Result]) -> dict[str, list[Any]]:
    """What `results.json` states of a contestant's trials."""
    return {key: [trial[key] for trial in trials] for key in ("parameters", "steps", "seconds", "pace", "loss")}


def bleu_by_group(trials: Sequence[Result]) -> list[SeedScores]:
    """The BLEU of each group of test sentences; those of one group are resampled alike for every contestant."""
    counts = np.array([trial["counts"] for trial in trials])  # (seeds, N, 10)
    ends = np.cumsum([group["sentences"] for group in trials[0]["groups"]])
    parts = np.split(counts, ends[:-1], axis=1)
    return [Resampling(part.shape[1], seed=number)(bleu, part) for number, part in enumerate(parts)]


# --- what follows, in sentences ---------------------------------------------------------------------------------------


def enough(scores: Mapping[str, SeedScores], least: float = MIN_BLEU) -> list[str]:
    """Who learnt enough to be compared."""
    return [name for name, score in scores.items() if score.value >= least]


def only(scores: Mapping[str, SeedScores], names: Sequence[str]) -> dict[str, SeedScores]:
    return {name: score for name, score in scores.items() if name in names}


def left_out(scores: Mapping[str, SeedScores], names: Sequence[str], what: str = "BLEU") -> list[str]:
    """A sentence about those that are not among these names, because they learnt too little."""
    out = [f"{name} ({score.value:.1f} {what})" for name, score in scores.items() if name not in names]
    return [f"{capitalised(listed(out))} learnt too little to be compared."] if out else []


def ranked(scores: Mapping[str, SeedScores], what: str, higher: bool = True) -> list[str]:
    """Says who is best, by how much the others are worse, and for whom the difference is not decided."""
    if len(scores) < 2:
        return []
    contest = Contest(scores)
    gaps = contest.differences()
    best, *others = sorted(scores, key=lambda name: scores[name].value, reverse=higher)
    parts = [f"the {'highest' if higher else 'lowest'} {what} is that of {best}: {contest.alone()[best]}."]
    found = {name: compared(gaps[name, best]) for name in others}
    worse = [f"{name} ({gaps[name, best].signed()})" for name in others if found[name] != "not decided"]
    alike = [f"{name} ({gaps[name, best].signed()})" for name in others if found[name] == "not decided"]
    if worse:
        parts.append(f"It is {'lower' if higher else 'higher'} with {listed(worse)}.")
    if alike:
        parts.append(f"The difference is not decided for {listed(alike)}.")
    return [about(" ".join(parts), contest.one_seed)]


def said(verdict: str, name: str, tolerance: float, along: str) -> str:
    """A verdict of `fall` as the beginning of a sentence."""
    return {
        "falls": f"{name} falls with {along}",
        "holds": f"{name} holds (it loses less than {tolerance:g})",
        "not decided": f"whether {name} falls with {along} is not decided",
    }[verdict]


def about(sentence: str, one_seed: bool) -> str:
    """A sentence about the models, or with one seed about these runs alone."""
    return capitalised(f"in these runs {sentence}" if one_seed else sentence)


def sureness(scores: Mapping[str, SeedScores], unit: str, tested: str) -> list[str]:
    """What the intervals cover, and how small a difference is lost in the noise."""
    if not scores:
        return []
    contest = Contest(scores)
    floor = contest.noise()
    if contest.one_seed:
        sentences = [
            "There is one seed: this is said of these runs and not of the models, which another seed may rank "
            "otherwise (--seeds 3 tells more).",
            f"Intervals are of 95%, over {tested}.",
        ]
    else:
        sentences = [
            f"Intervals are of 95%, over {tested} and {contest.seeds.max()} seeds; those of a verdict hold for all "
            "contestants at once.",
            f"Seeds of one contestant scatter by {floor.seed_deviation:.1f} {unit} (standard deviation).",
        ]
    if len(scores) > 1:
        who = "Runs" if contest.one_seed else "Contestants"
        sentences.append(f"{who} that differ by less than about {floor.decided:.1f} {unit} are not told apart.")
    return [" ".join(sentences)]


def noise(scores: Mapping[str, SeedScores]) -> dict[str, float] | None:
    """The floor of a comparison, as `results.json` states it."""
    return vars(Contest(scores).noise()) if scores else None


def listed(names: Sequence[str]) -> str:
    """As people list them: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def point(x: float, one: Interval) -> Point:
    """An interval, to be drawn at a place."""
    return Point(x, one.value, one.low, one.high)
