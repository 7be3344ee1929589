"""What comparisons have in common: how fair they were, who is better, how sure that is, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from regard.lab.experiment import Result, Results
from regard.metrics.statistics import PERCENT, Contest, Interval, Resampling, SeedScores, bleu, compared
from regard.page.records import Point, Table

UNEVEN_RATIO = 1.15  # slowest trial to quickest trial
MIN_BLEU = 10.0  # a translator below this has learnt too little to be compared
AT_ONCE = "those of differences and changes are so wide that all of them hold at once"
QUESTIONS = 2  # that an experiment asks of its contestants; all its verdicts are right together


def table(title: str, results: Results, header: Sequence[str], cells: Mapping[str, Sequence[str]]) -> Table:
    """A row for each contestant: how fair the comparison was to it (parameters, steps, seconds of training of the
    longest seed), then its `cells`."""
    rows = [
        [
            name,
            f"{trials[0]['parameters']:,}",
            f"{trials[0]['steps']:,}",
            f"{max(one['seconds'] for one in trials):.0f}",
            *cells[name],
        ]
        for name, trials in results.items()
    ]
    return Table(("", "parameters", "steps", "seconds", *header), rows, title)


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


def facts(results: Results, found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What `results.json` states of each contestant: facts of its trials, and what was `found`."""
    stated = ("parameters", "steps", "seconds", "pace", "loss")
    return {
        name: {**{key: [trial[key] for trial in trials] for key in stated}, **found[name]}
        for name, trials in results.items()
    }


def bleu_by_group(trials: Sequence[Result]) -> list[SeedScores]:
    """The BLEU of each group of test sentences; those of one group are resampled alike for every contestant."""
    counts = np.array([trial["counts"] for trial in trials])  # (seeds, N, 10)
    ends = np.cumsum([group["sentences"] for group in trials[0]["groups"]])
    parts = np.split(counts, ends[:-1], axis=1)
    return [Resampling(part.shape[1], seed=number)(bleu, part) for number, part in enumerate(parts)]


def contest(scores: Mapping[str, SeedScores]) -> Contest:
    """Contestants beside each other, with intervals that all verdicts of an experiment may rest on."""
    return Contest(scores, questions=QUESTIONS)


# --- what follows, in sentences ---------------------------------------------------------------------------------------


def enough(scores: Mapping[str, SeedScores], least: float = MIN_BLEU) -> list[str]:
    """Who learnt enough to be compared."""
    return [name for name, score in scores.items() if score.value >= least]


class Ranking:
    """One quantity of those contestants that learnt enough, and what follows from it in sentences."""

    def __init__(self, scores: Mapping[str, SeedScores], able: Sequence[str]) -> None:
        self.scores = {name: score for name, score in scores.items() if name in able}

    @cached_property
    def contest(self) -> Contest:
        return contest(self.scores)

    def ranked(self, what: str, higher: bool = True) -> list[str]:
        """Says who is best, by how much the others are worse, and for whom the difference is not decided."""
        if len(self.scores) < 2:
            return []
        gaps = self.contest.differences()
        best, *others = sorted(self.scores, key=lambda name: self.scores[name].value, reverse=higher)
        told = {name: f"{name} ({gaps[name, best].signed()})" for name in others}
        alike = [name for name in others if compared(gaps[name, best]) == "not decided"]
        worse = [name for name in others if name not in alike]
        parts = [
            f"the {'highest' if higher else 'lowest'} {what} is that of {best}: {self.contest.alone(PERCENT)[best]}."
        ]
        if worse:
            parts.append(f"It is {'lower' if higher else 'higher'} with {listed([told[name] for name in worse])}.")
        if alike:
            parts.append(f"The difference is not decided for {listed([told[name] for name in alike])}.")
        return [about(" ".join(parts), self.contest.one_seed)]

    def sureness(self, unit: str, tested: str) -> list[str]:
        """What the intervals cover, and how small a difference is lost in the noise."""
        if not self.scores:
            return []
        floor = self.contest.noise()
        if self.contest.one_seed:
            sentences = [
                "There is one seed: this is said of these runs and not of the models, which another seed may rank "
                "otherwise (--seeds 3 tells more).",
                f"Intervals are of 95%, over {tested}; {AT_ONCE}.",
            ]
        else:
            sentences = [
                f"Intervals are of 95%, over {tested} and {self.contest.seeds.max()} seeds; {AT_ONCE}.",
                f"Seeds of one contestant scatter by {floor.seed_deviation:.1f} {unit} (standard deviation).",
            ]
        if len(self.scores) > 1:
            who = "Runs" if self.contest.one_seed else "Contestants"
            sentences.append(f"{who} that differ by less than about {floor.decided:.1f} {unit} are not told apart.")
        return [" ".join(sentences)]

    def noise(self) -> dict[str, float] | None:
        """The floor of the comparison, as `results.json` states it."""
        return vars(self.contest.noise()) if self.scores else None


def left_out(scores: Mapping[str, SeedScores], names: Sequence[str], what: str = "BLEU") -> list[str]:
    """A sentence about those that are not among these names, because they learnt too little."""
    out = [f"{name} ({score.value:.1f} {what})" for name, score in scores.items() if name not in names]
    return [f"{capitalised(listed(out))} learnt too little to be compared."] if out else []


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


def listed(names: Sequence[str]) -> str:
    """As people list them: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def point(x: float, one: Interval) -> Point:
    """An interval, to be drawn at a place."""
    return Point(x, one.value, one.low, one.high)
