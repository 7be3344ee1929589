"""Does one fixed context hold a long sentence? BLEU by length of the source, with attention and without.

Cho et al. 2014, arXiv:1409.1259, saw the quality of a fixed context fall with length; Bahdanau et al. 2015,
arXiv:1409.0473, figure 2, that attention takes the fall away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from regard.config import ConfigError, Positive, Size
from regard.data.examples import PairData
from regard.lab.comparison import (
    Ranking,
    about,
    bleu_by_group,
    contest,
    enough,
    facts,
    left_out,
    point,
    said,
    table,
    uneven,
)
from regard.lab.experiment import ExperimentResult, Results
from regard.lab.lengths import Group, by_length, evenly
from regard.lab.sizes import matched, parameters
from regard.lab.translators import Translators
from regard.metrics.statistics import PERCENT, Contest, Interval, compared, fall
from regard.models import ModelConfig, Recurrent
from regard.models.recurrent import Bahdanau, Fixed, ReaderConfig
from regard.nn.attention.kernel import KernelConfig
from regard.nn.attention.scores import General
from regard.nn.heads import LinearHead
from regard.nn.residual import PreNorm
from regard.page.records import Card, LineChart, Series
from regard.runfolder import write_text
from regard.zoo.transformer import transformer

FIXED, ATTENTION, TRANSFORMER = "fixed context", "attention", "Transformer"
LONG = "long"  # the split of sentences that are longer than all others
DEFAULT_PAIRS = 40_000  # learnt from where no number is given
MIN_READ_PAIRS = 100  # read to find short and long sentences


@dataclass(frozen=True)
class Bottleneck(Translators, kind="bottleneck"):
    """A recurrent translator with one fixed context, one with Bahdanau's attention by a `score`, and a Transformer of
    so many `layers` and `heads`, all `width` wide and of equal size. "general" learns soonest, as `regard lab scores`
    finds; Bahdanau's own score is "additive".

    `lengths` end the groups of sentences, in words of the source. Of a corpus with a split of long sentences as many
    words of each group are learnt, unless `even` is false: so that it is length that is seen, not how rare it is. What
    loses less than `tolerance` BLEU from the shortest to the longest group of trained lengths, holds.
    """

    budget: Positive = 45.0
    pairs: Size | None = 40_000
    sentences: Size = 300
    width: Size = 64
    layers: Size = 2
    heads: Size = 4
    score: KernelConfig = General()
    lengths: tuple[int, ...] = (10, 20, 30, 40, 60)
    even: bool = True
    tolerance: Positive = 5.0

    def check(self) -> None:
        super().check()
        if list(self.lengths) != sorted(set(self.lengths)) or min(self.lengths, default=0) < 1:
            raise ConfigError(f"lengths {self.lengths}: they take rising numbers of words")

    def contestants(self, vocabulary: int) -> Mapping[str, ModelConfig]:
        last = transformer(vocabulary, self.layers, self.width, 2 * self.width, self.heads, 0.0, PreNorm)
        size = parameters(last)
        return {
            FIXED: matched(lambda hidden: self.recurrent(vocabulary, hidden, Fixed(output="maxout")), size, FIXED),
            ATTENTION: matched(
                lambda hidden: self.recurrent(vocabulary, hidden, Bahdanau(self.score)), size, ATTENTION
            ),
            TRANSFORMER: last,
        }

    def recurrent(self, vocabulary: int, hidden: int, reader: ReaderConfig) -> Recurrent:
        """With one table for source, target and output, as the Transformer has."""
        head = LinearHead(tied=True, bias=True)
        return Recurrent(vocabulary=vocabulary, width=self.width, hidden=hidden, reader=reader, head=head)

    def most_tested(self) -> int:
        return self.sentences * len(self.lengths)

    @cached_property
    def groups(self) -> Sequence[Group]:
        trained = self.tested() if self.even else self.tested()[:1]
        return by_length(self.held_out, self.tested(), self.lengths, self.sentences, trained)

    def examples(self, shared: Path) -> tuple[PairData, PairData]:
        """Short and long sentences with as many words each; none of them is tested."""
        if not self.even or LONG not in self.tested():
            return super().examples(shared)
        files = {split: shared / f"{split}.tsv" for split in ("valid", "train")}
        without: set[str] = set()
        for split, path in files.items():
            if not path.exists():
                many = self.valid if split == "valid" else self.pairs or DEFAULT_PAIRS
                without = without or {pair.source for pair in self.test}
                sources = [self.named(name, max(MIN_READ_PAIRS, 5 * many // 4)).pairs() for name in (split, LONG)]
                pairs = evenly(sources, self.lengths, many, without)
                without |= {pair.source for pair in pairs}
                write_text(path, "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
        return PairData(file=str(files["train"])), PairData(file=str(files["valid"]))

    # --- what follows ---

    def outcome(self, results: Results) -> ExperimentResult:
        groups = next(iter(results.values()))[0]["groups"]
        scores = {name: bleu_by_group(trials) for name, trials in results.items()}
        trained = [place for place, group in enumerate(groups) if group["trained"]]
        first, last = trained[0], trained[-1]
        short, long = ({name: several[place] for name, several in scores.items()} for place in (first, last))
        able = enough(short, 2 * self.tolerance)
        comparison = Ranking(long, able)
        changes = contest({name: long[name] - short[name] for name in able}).together() if able else {}
        verdicts = {
            name: fall(short[name].value, changes[name], self.tolerance) if name in able else "too low"
            for name in results
        }
        span = f"from {groups[first]['name']} to {groups[last]['name']} words"
        conclusions = [
            *(
                about(
                    f"{said(verdicts[name], name, self.tolerance, 'length')}: its BLEU changes by "
                    f"{changes[name].signed()} {span}.",
                    self.seeds == 1,
                )
                for name in able
            ),
            *against(comparison, groups[last]["name"]),
            *left_out(short, able),
            *comparison.sureness("BLEU", f"up to {self.sentences} sentences of each length"),
            *uneven(results),
        ]
        by_group = [
            Contest({name: several[place] for name, several in scores.items()}).alone(PERCENT)
            for place in range(len(groups))
        ]
        bleu = {name: [one[name] for one in by_group] for name in results}
        header = [*(group["name"] + ("" if group["trained"] else "*") for group in groups), "change"]
        cells = {
            name: [*(f"{one.value:.1f}" for one in bleu[name]), changes[name].signed() if name in able else "–"]
            for name in results
        }
        found = {
            name: {
                "bleu": [one.plain() for one in bleu[name]],
                "change": changes[name].plain() if name in able else None,
                "verdict": verdicts[name],
            }
            for name in results
        }
        title = "BLEU by words of the source; * lengths that were never trained on"
        panels = [Card("BLEU by length of the source", self.chart(groups, bleu))]
        values = {"groups": groups, "contestants": facts(results, found), "noise": comparison.noise()}
        return ExperimentResult([table(title, results, header, cells)], panels, conclusions, values)

    def chart(self, groups: Sequence[Mapping[str, object]], bleu: Mapping[str, Sequence[Interval]]) -> LineChart:
        series = [
            Series(name, [point(place, one) for place, one in enumerate(values)]) for name, values in bleu.items()
        ]
        trained = sum(bool(group["trained"]) for group in groups)
        mark = (trained - 0.5, "not trained on") if trained < len(groups) else None
        names = [(place, str(group["name"])) for place, group in enumerate(groups)]
        return LineChart(series, "words of the source", "BLEU by length", names=names, from_zero=True, mark=mark)


def against(comparison: Ranking, words: str) -> list[str]:
    """How much better than the fixed context the others are on the longest sentences."""
    if FIXED not in comparison.scores:
        return []
    found = []
    for name, gap in comparison.contest.against(FIXED).items():
        verdict = compared(gap)
        if verdict == "not decided":
            told = f"it is not decided at {words} words which of {name} and {FIXED} is better: {gap.signed()} BLEU."
        else:
            told = f"{name} is {verdict} than {FIXED} at {words} words: by {gap.signed()} BLEU."
        found.append(about(told, comparison.contest.one_seed))
    return found
