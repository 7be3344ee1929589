"""How should a Transformer know the order of words? Position schemes, within and beyond the lengths of training.

The order number and the fraction of the length are the schemes that one tries first and gives up; relative positions
are those of Shaw et al. 2018, arXiv:1803.02155. Press et al. 2022, arXiv:2108.12409, ask the same of longer texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from regard.config import ConfigError, Positive, Size, change
from regard.lab.comparison import (
    Ranking,
    about,
    bleu_by_group,
    enough,
    facts,
    left_out,
    listed,
    point,
    table,
    uneven,
)
from regard.lab.experiment import ExperimentResult, Results
from regard.lab.lengths import Group
from regard.lab.sizes import all_matched
from regard.lab.translators import Translators
from regard.metrics.statistics import PERCENT, Contest, compared
from regard.models import EncoderDecoder, ModelConfig
from regard.nn.positions import (
    ALiBi,
    Buckets,
    Fraction,
    Learned,
    NoPosition,
    Order,
    PositionConfig,
    Relative,
    Rotary,
    Sinusoidal,
)
from regard.nn.residual import PreNorm
from regard.page.records import Card, DotChart
from regard.zoo.transformer import transformer

REFERENCE, NONE = "sinusoidal", "none"


@dataclass(frozen=True)
class OrderOfWords(Translators, kind="order"):
    """A Transformer of so many `layers` and `heads`, `width` wide, with one position scheme after the other in encoder
    and decoder; its feed-forward makes all of equal size. Tested on `sentences` of the trained lengths and as many that
    are longer than any of them. A learned table has so many `places`."""

    budget: Positive = 36.0
    sentences: Size = 200
    width: Size = 64
    layers: Size = 2
    heads: Size = 4
    places: Size = 256

    def check(self) -> None:
        super().check()
        if "long" not in self.tested():
            raise ConfigError(f"data {self.data}: it has no sentences that are longer than those of training")

    def schemes(self) -> dict[str, PositionConfig]:
        return {
            NONE: NoPosition(),
            "order number": Order(),
            "fraction": Fraction(),
            REFERENCE: Sinusoidal(),
            "learned": Learned(length=self.places),
            "relative": Relative(),
            "rotary": Rotary(),
            "ALiBi": ALiBi(),
            "T5 buckets": Buckets(),
        }

    def contestants(self, vocabulary: int) -> Mapping[str, ModelConfig]:
        return all_matched(partial(self.translator, vocabulary), self.schemes(), REFERENCE, 2 * self.width)

    def translator(self, vocabulary: int, scheme: PositionConfig, hidden: int) -> EncoderDecoder:
        model = transformer(vocabulary, self.layers, self.width, hidden, self.heads, 0.0, PreNorm)
        return change(model, {"position": scheme})

    def most_tested(self) -> int:
        return 2 * self.sentences

    @cached_property
    def groups(self) -> Sequence[Group]:
        within, beyond = (list(self.held_out(split, self.sentences)) for split in self.tested())
        return [Group("within", True, within), Group("beyond", False, beyond)]

    # --- what follows ---

    def outcome(self, results: Results) -> ExperimentResult:
        groups = {name: bleu_by_group(trials) for name, trials in results.items()}
        within, beyond = ({name: scores[place] for name, scores in groups.items()} for place in range(2))
        able = enough(within)
        comparison = Ranking(within, able)
        conclusions = [
            *comparison.ranked("BLEU within the trained lengths"),
            *Ranking(beyond, able).ranked("BLEU beyond them"),
            *worth(comparison),
            *left_out(within, able),
            *comparison.sureness("BLEU", f"{self.sentences} sentences of each kind"),
            *uneven(results),
        ]
        inside, outside = Contest(within).alone(PERCENT), Contest(beyond).alone(PERCENT)
        changes = Contest({name: beyond[name] - within[name] for name in results}).alone()
        title = "BLEU of a Transformer by its positions, within and beyond the trained lengths"
        cells = {name: [str(inside[name]), str(outside[name]), changes[name].signed()] for name in results}
        rows = [(name, [point(0, inside[name]), point(0, outside[name])]) for name in results]
        chart = DotChart(rows, ("within the trained lengths", "beyond them"), "BLEU", "BLEU by position scheme")
        kinds = {"within": inside, "beyond": outside, "change": changes}
        found = {name: {kind: scores[name].plain() for kind, scores in kinds.items()} for name in results}
        return ExperimentResult(
            [table(title, results, tuple(kinds), cells)],
            [Card("BLEU by position scheme", chart)],
            conclusions,
            {"contestants": facts(results, found), "noise": comparison.noise()},
        )


def worth(comparison: Ranking) -> list[str]:
    """Which schemes are better than none, which are not told from it, which are worse."""
    if NONE not in comparison.scores or len(comparison.scores) < 2:
        return []
    differences = comparison.contest.differences()  # as the ranking states them, so that a difference has one interval
    gaps = {name: gap for (name, other), gap in differences.items() if other == NONE}
    said = {"higher": "better than", "not decided": "not told from", "lower": "worse than"}
    parts = []
    for found, words in said.items():
        names = [f"{name} ({gap.signed()})" for name, gap in gaps.items() if compared(gap) == found]
        if names:
            parts.append(f"{words} that of no positions with {listed(names)}")
    return [about(f"the BLEU within the trained lengths is {'; it is '.join(parts)}.", comparison.contest.one_seed)]
