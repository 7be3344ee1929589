"""How should a decoder score the words of its source? Six scores in one recurrent translator.

Luong et al. 2015, arXiv:1508.04025, compare four of them; Vaswani et al. 2017, arXiv:1706.03762, scale the product; the
cosine is that of Graves et al. 2014, arXiv:1410.5401.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from regard.config import Positive, Size
from regard.lab.comparison import Ranking, bleu_by_group, enough, facts, left_out, listed, point, table, uneven
from regard.lab.experiment import ExperimentResult, Result, Results
from regard.lab.sizes import all_matched
from regard.lab.translators import Translators
from regard.metrics.statistics import PERCENT, Contest, Interval, Resampling, SeedScores, error_rate
from regard.models import ModelConfig, Recurrent
from regard.models.recurrent import Bahdanau
from regard.nn.attention import KernelConfig
from regard.nn.attention.dot import Dot, ScaledDot
from regard.nn.attention.scores import Additive, Content, General, Location
from regard.nn.heads import LinearHead
from regard.page.records import Card, DotChart, Point
from regard.tasks.writing.alignment import align
from regard.tasks.writing.translator import Translator

REFERENCE = "additive"  # its number of parameters is what the others are matched to


@dataclass(frozen=True)
class AttentionScores(Translators, kind="scores"):
    """A recurrent translator with Bahdanau's attention, `width` wide; with the additive score its states are `hidden`
    wide, with another so much wider or narrower that all are of equal size. Location-based attention knows `places`."""

    budget: Positive = 36.0
    sentences: Size = 300
    width: Size = 64
    hidden: Size = 96
    places: Size = 128

    def kernels(self) -> dict[str, KernelConfig]:
        return {
            "dot": Dot(),
            "scaled dot": ScaledDot(),
            "general": General(),
            REFERENCE: Additive(),
            "content": Content(),
            "location": Location(length=self.places),
        }

    def contestants(self, vocabulary: int) -> Mapping[str, ModelConfig]:
        return all_matched(partial(self.translator, vocabulary), self.kernels(), REFERENCE, self.hidden)

    def translator(self, vocabulary: int, kernel: KernelConfig, hidden: int) -> Recurrent:
        head = LinearHead(tied=True, bias=True)
        return Recurrent(
            vocabulary=vocabulary, width=self.width, hidden=hidden, reader=Bahdanau(kernel=kernel), head=head
        )

    def measure(self, translator: Translator) -> Result:
        """Of each sentence with a gold alignment: links that agree with it, and links of both."""
        gold = [pair for pair in self.test if pair.alignment]
        if not gold or translator.reading is None:
            return {"links": []}
        found = align(translator, gold, translator.reading)
        return {
            "links": [
                [len({*links} & {*pair.alignment}), len({*links}) + len({*pair.alignment})]
                for links, pair in zip(found, gold, strict=True)
            ]
        }

    # --- what follows ---

    def outcome(self, results: Results) -> ExperimentResult:
        bleu = {name: bleu_by_group(trials)[0] for name, trials in results.items()}
        errors = {name: errors_of(trials) for name, trials in results.items() if trials[0]["links"]}
        paces = {name: 1000 * min(one["pace"] for one in trials) for name, trials in results.items()}
        able = enough(bleu)
        comparison = Ranking(bleu, able)
        conclusions = [
            *comparison.ranked("BLEU"),
            *Ranking(errors, able).ranked("alignment error in per cent", higher=False),
            *left_out(bleu, able),
            quickest(paces),
            *comparison.sureness("BLEU", f"{len(next(iter(results.values()))[0]['counts'])} sentences"),
            *uneven(results),
        ]
        of_bleu, of_errors = Contest(bleu).alone(PERCENT), Contest(errors).alone(PERCENT) if errors else {}
        cells = {name: [f"{paces[name]:.0f}", str(of_bleu[name]), str(of_errors.get(name, "–"))] for name in results}
        header = ("ms a step", "BLEU", "alignment error %")
        panels = [Card("BLEU", dots(of_bleu, "BLEU"))]
        if errors:
            panels.append(Card("Alignment error", dots(of_errors, "links that are wrong, %")))
        times = [(name, [Point(0, pace)]) for name, pace in paces.items()]
        panels.append(Card("Time of a training step", DotChart(times, (), "ms", "time of a step", digits=0)))
        found = {
            name: {
                "bleu": of_bleu[name].plain(),
                "alignment_error": of_errors[name].plain() if name in errors else None,
            }
            for name in results
        }
        return ExperimentResult(
            [table("Scores of attention in a recurrent translator", results, header, cells)],
            panels,
            conclusions,
            {"contestants": facts(results, found), "noise": comparison.noise()},
        )


def errors_of(trials: Sequence[Result]) -> SeedScores:
    links = np.array([trial["links"] for trial in trials])  # (seeds, N, 2)
    return Resampling(links.shape[1])(error_rate, links)


def quickest(paces: Mapping[str, float]) -> str:
    """Says how long a step takes, relative to the quickest."""
    first, *others = sorted(paces, key=lambda name: paces[name])
    times = [f"{name} {paces[name] / paces[first]:.2f}" for name in others]
    beside = f"; it takes {listed(times)} times as long" if others else ""
    return f"The quickest training step is that of {first}, {paces[first]:.0f} ms{beside}."


def dots(found: Mapping[str, Interval], label: str) -> DotChart:
    rows = [(name, [point(0, one)]) for name, one in found.items()]
    return DotChart(rows, (), label, label)
