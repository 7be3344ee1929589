"""How should a Transformer know the order of words? Position schemes, within and beyond the lengths of training.

The order number and the fraction of the length are the schemes that one tries first and gives up; relative positions
are those of Shaw et al. 2018, arXiv:1803.02155. Press et al. 2022, arXiv:2108.12409, ask the same of longer texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from regard.config import ConfigError, Positive, Size, change
from regard.lab.comparison import (
    FAIRNESS,
    about,
    bleu_by_group,
    enough,
    facts,
    fairness,
    left_out,
    listed,
    noise,
    only,
    point,
    ranked,
    sureness,
    uneven,
)
from regard.lab.experiment import ExperimentResult, Results
from regard.lab.lengths import Group
from regard.lab.sizes import matched, parameters
from regard.lab.translators import Translators
from regard.metrics.statistics import Contest, SeedScores, compared
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
from regard.page.records import Card, DotChart, Table
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
        schemes = self.schemes()
        size = parameters(self.translator(vocabulary, 2 * self.width, schemes[REFERENCE]))
        return {
            name: matched(lambda hidden, scheme=scheme: self.translator(vocabulary, hidden, scheme), size, name)  # type: ignore[misc]
            for name, scheme in schemes.items()
        }

    def translator(self, vocabulary: int, hidden: int, scheme: PositionConfig) -> EncoderDecoder:
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
        conclusions = [
            *ranked(only(within, able), "BLEU within the trained lengths"),
            *ranked(only(beyond, able), "BLEU beyond them"),
            *worth(only(within, able)),
            *left_out(within, able),
            *sureness(only(within, able), "BLEU", f"{self.sentences} sentences of each kind"),
            *uneven(results),
        ]
        inside, outside = Contest(within).alone(), Contest(beyond).alone()
        changes = Contest({name: beyond[name] - within[name] for name in results}).alone()
        made = fairness(results)
        table = Table(
            title="BLEU of a Transformer by its positions, within and beyond the trained lengths",
            header=("", *FAIRNESS, "within", "beyond", "change"),
            rows=[
                [name, *made[name], str(inside[name]), str(outside[name]), changes[name].signed()] for name in results
            ],
        )
        rows = [(name, [point(0, inside[name]), point(0, outside[name])]) for name in results]
        chart = DotChart(rows, ("within the trained lengths", "beyond them"), "BLEU", "BLEU by position scheme")
        found = {
            name: {
                **facts(trials),
                "within": inside[name].plain(),
                "beyond": outside[name].plain(),
                "change": changes[name].plain(),
            }
            for name, trials in results.items()
        }
        values = {"contestants": found, "noise": noise(only(within, able))}
        return ExperimentResult([table], [Card("BLEU by position scheme", chart)], conclusions, values)


def worth(scores: Mapping[str, SeedScores]) -> list[str]:
    """Which schemes are better than none, which are not told from it, which are worse."""
    if NONE not in scores or len(scores) < 2:
        return []
    contest = Contest(scores)
    gaps = contest.against(NONE)
    said = {
        "higher": "better than that of no positions with",
        "not decided": "not told from that of no positions with",
        "lower": "worse than that of no positions with",
    }
    parts = []
    for found, words in said.items():
        names = [f"{name} ({gap.signed()})" for name, gap in gaps.items() if compared(gap) == found]
        if names:
            parts.append(f"{words} {listed(names)}")
    return [about(f"the BLEU within the trained lengths is {'; it is '.join(parts)}.", contest.one_seed)]
