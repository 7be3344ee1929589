"""How should a Transformer know the order of words? Position schemes, within and beyond the lengths of training.

The order number and the fraction of the length are the schemes that one tries first and gives up; relative positions
are those of Shaw et al. 2018, arXiv:1803.02155. Press et al. 2022, arXiv:2108.12409, ask the same of longer texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from regard.config import ConfigError, Positive, Size
from regard.lab.comparison import FAIRNESS, bleu_by_group, facts, fairness, point, ranked, sureness, uneven
from regard.lab.experiment import Outcome, Results, Table
from regard.lab.lengths import Group
from regard.lab.sizes import matched, parameters
from regard.lab.statistics import Draws, compared, interval, minus
from regard.lab.translators import Translators
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
from regard.page.chart import intervals
from regard.zoo.transformer import transformer

REFERENCE, NONE = "sinusoidal", "none"


@dataclass(frozen=True)
class OrderOfWords(Translators, kind="order"):
    """A Transformer of so many `layers` and `heads`, `width` wide, with one position scheme after the other in encoder
    and decoder; its feed-forward makes all of equal size. Tested on `sentences` of the trained lengths and as many that
    are longer than any of them. A learned table has so many `places`."""

    budget: Positive = 18.0
    seeds: Size = 1
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
        return replace(
            model, encoder=replace(model.encoder, position=scheme), decoder=replace(model.decoder, position=scheme)
        )

    @cached_property
    def groups(self) -> Sequence[Group]:
        within, beyond = (list(self.held_out(split, self.sentences)) for split in self.tested())
        return [Group("within", True, within), Group("beyond", False, beyond)]

    # --- what follows ---

    def outcome(self, results: Results) -> Outcome:
        drawn = {name: bleu_by_group(trials) for name, trials in results.items()}
        within, beyond = ({name: draws[place] for name, draws in drawn.items()} for place in range(2))
        conclusions = [
            ranked(within, "BLEU within the trained lengths"),
            ranked(beyond, "BLEU beyond them"),
            worth(within),
            sureness(self.seeds, f"{self.sentences} sentences of each kind"),
            *uneven(results),
        ]
        made = fairness(results)
        table = Table(
            "BLEU of a Transformer by its positions, within and beyond the trained lengths",
            ("", *FAIRNESS, "within", "beyond", "change"),
            [
                [
                    name,
                    *made[name],
                    str(interval(within[name])),
                    str(interval(beyond[name])),
                    interval(minus(beyond[name], within[name])).signed(),
                ]
                for name in results
            ],
        )
        rows = [(name, [point(0, one) for one in map(interval, drawn[name])]) for name in results]
        chart = intervals(rows, ("within the trained lengths", "beyond them"), "BLEU", "BLEU by position scheme")
        found = {
            name: {
                **facts(trials),
                "within": interval(within[name]).plain(),
                "beyond": interval(beyond[name]).plain(),
                "change": interval(minus(beyond[name], within[name])).plain(),
            }
            for name, trials in results.items()
        }
        return Outcome([table], [("BLEU by position scheme", chart)], conclusions, {"contestants": found})


def worth(drawn: Mapping[str, Draws]) -> str:
    """Which schemes are better than none, which are not told from it, which are worse."""
    gaps = {name: interval(minus(one, drawn[NONE])) for name, one in drawn.items() if name != NONE}
    said = {"higher": "better than none", "not decided": "not decided against none", "lower": "worse than none"}
    parts = []
    for found, words in said.items():
        names = [f"{name} ({gap.signed()})" for name, gap in gaps.items() if compared(gap) == found]
        if names:
            parts.append(f"{words}: {', '.join(names)}")
    return "within the trained lengths, " + "; ".join(parts)
