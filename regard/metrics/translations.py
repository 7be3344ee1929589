"""Scores of translations, each with the signature that says how it was computed.

sacreBLEU is imported by what scores: its import takes a quarter of a second, which translating does not need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from regard.data.words import unspaced, words
from regard.errors import Error
from regard.results import Scores

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric
    from sacrebleu.metrics.bleu import BLEU

BUCKETS = (5, 10, 15, 20, 30, 40, 60)  # upper ends, in words of the source


@dataclass(frozen=True)
class Signed:
    """A figure and its signature: the exact way in which it was computed."""

    value: float
    signature: str


CUTS = {"": "13a", "han": "zh", "other": "char"}  # what sacreBLEU calls its ways to cut a text into words, by script


def bleu_of(references: Sequence[str]) -> BLEU:
    """BLEU as it is for references of their script: by words, or by characters where no spaces part words."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=CUTS[unspaced(references)])


def score(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Signed]:
    """BLEU, chrF and TER of a corpus."""
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    apart = bool(unspaced(references))
    ter = TER(normalized=apart, asian_support=apart)
    metrics: dict[str, Metric] = {"BLEU": bleu_of(references), "chrF": CHRF(), "TER": ter}
    results = {}
    for name, metric in metrics.items():
        value = metric.corpus_score(list(hypotheses), [list(references)]).score
        results[name] = Signed(value, str(metric.get_signature()))
    return results


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    return float(bleu_of(references).corpus_score(list(hypotheses), [list(references)]).score)


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    from sacrebleu.metrics.chrf import CHRF

    return float(CHRF().corpus_score(list(hypotheses), [list(references)]).score)


def tokenised_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Signed:
    """As many papers state it: lower-cased, tokenised by Moses' rules, BLEU on those tokens."""
    try:
        from sacremoses import MosesTokenizer
    except ImportError as error:
        raise Error("sacremoses is not installed: pip install 'regard[scores]'") from error
    from sacrebleu.metrics.bleu import BLEU

    moses = MosesTokenizer(lang=language)
    sides = [
        [moses.tokenize(text.lower(), escape=False, return_str=True) for text in s] for s in (hypotheses, references)
    ]
    metric = BLEU(tokenize="none", force=True)
    value = metric.corpus_score(sides[0], [sides[1]]).score
    return Signed(value, f"{metric.get_signature()}|lower-cased|sacremoses:{language}")


@dataclass(frozen=True)
class Comparison:
    """A score beside another system's, and how likely so large a difference is by chance."""

    value: float
    other: float
    p_value: float
    signature: str


def compare(hypotheses: Sequence[str], others: Sequence[str], references: Sequence[str]) -> dict[str, Comparison]:
    """Paired bootstrap resampling, 1,000 samples. Koehn 2004, as sacreBLEU computes it."""
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.significance import PairedTest, Result

    systems: list[tuple[str, Sequence[str]]] = [("other", list(others)), ("own", list(hypotheses))]
    test = PairedTest(systems, {"BLEU": bleu_of(references), "chrF": CHRF()}, [list(references)], test_type="bs")
    signatures, results = test()
    found = {}
    for name, signature in signatures.items():
        other, own = results[name]
        assert isinstance(other, Result)
        assert isinstance(own, Result)
        # Of no difference at all, sacreBLEU says that it is not by chance.
        chance = 1.0 if own.score == other.score else float(own.p_value or 0.0)
        found[name.removesuffix("2")] = Comparison(own.score, other.score, chance, str(signature))
    return found


def bleu_by_length(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
) -> list[tuple[str, int, float]]:
    """(bucket, sentences, BLEU) by the length of the source in words; empty buckets are left out."""
    rows, lengths = [], [len(words(source)) for source in sources]
    low = 1
    for high in (*BUCKETS, None):
        inside = [i for i, length in enumerate(lengths) if low <= length and (high is None or length <= high)]
        if inside:
            name = f"{low}+" if high is None else f"{low}–{high}"
            rows.append((name, len(inside), bleu([hypotheses[i] for i in inside], [references[i] for i in inside])))
        low = (high or low) + 1
    return rows


# --- all that is measured of translations -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TranslationScores(Scores):
    """Of translations that were `found` beside their references: BLEU, chrF and TER, and BLEU by the length of the
    source. `tokenised` names a language whose lower-cased tokens are scored too; `beside` is what else was measured."""

    sources: Sequence[str]
    found: Sequence[str]
    references: Sequence[str]
    tokenised: str | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def scores(self) -> dict[str, Signed]:
        found = score(self.found, self.references)
        if self.tokenised:
            found["tokenised BLEU"] = tokenised_bleu(self.found, self.references, self.tokenised)
        return found

    @cached_property
    def by_length(self) -> list[tuple[str, int, float]]:
        return bleu_by_length(self.sources, self.found, self.references)

    def metrics(self) -> dict[str, float]:
        return {"bleu": bleu(self.found, self.references), "chrf": chrf(self.found, self.references)}

    def record(self) -> dict[str, Any]:
        return {
            "scores": {name: {"score": one.value, "signature": one.signature} for name, one in self.scores.items()},
            "by length": [{"words": name, "sentences": count, "BLEU": value} for name, count, value in self.by_length],
            "sentences": len(self.found),
            **self.beside,
        }

    def table(self) -> str:
        lines = [f"{name:<16}{one.value:6.2f}   {one.signature}" for name, one in self.scores.items()]
        if "alignment" in self.beside:
            one = self.beside["alignment"]
            counted = f"{one['layer']}, {one['sentences']:,} sentences"
            lines.append(f"{'alignment error':<16}{one['error rate']:6.3f}   {counted}")
        lines += ["", "words of the source    sentences    BLEU"]
        lines += [f"{name:<23}{count:>9}  {value:6.2f}" for name, count, value in self.by_length]
        against = self.beside.get("against", {})
        if against:
            lines += ["", *compared(against)]
        for names in filter(None, (self.beside.get("together"), against.get("together"))):
            lines += ["", f"{len(names)} runs translate together, as one: {', '.join(names)}; --each scores each run"]
        speed = "{sentences per second:.1f} sentences/s, {tokens per second:,.0f} tokens/s".format(**self.beside)
        return "\n".join([*lines, "", f"{len(self.found):,} sentences, {speed}; {searched(self.beside['search'])}"])


def searched(search: Mapping[str, Any]) -> str:
    """How translations were searched for."""
    if search["sample"] or search["beam"] == 1:
        return "drawn" if search["sample"] else "greedy search"
    return f"beam of {search['beam']}, length penalty {search['length penalty']:g}"


def compared(against: Mapping[str, Any]) -> list[str]:
    """Beside another run, a line for each score."""
    lines = [f"against {against['run']} (paired bootstrap, 1,000 samples; of these runs, other seeds may differ)"]
    for name, one in against.items():
        if name not in ("run", "together"):
            sure = "significant at 0.05" if one["p_value"] < 0.05 else "may be chance"
            lines.append(f"{name:<6}{one['value']:6.2f} beside {one['other']:6.2f}   p = {one['p_value']:.3f}, {sure}")
    return lines


@dataclass(frozen=True)
class ScoresOfSeeds(Scores):
    """The scores of the runs of several seeds, each by itself; beside those of others."""

    seeds: Mapping[str, Any]
    sentences: int
    against: Mapping[str, Any] | None = None

    def metrics(self) -> dict[str, float]:
        return {name: one["mean"] for name, one in self.seeds.items() if name != "runs"}

    def record(self) -> dict[str, Any]:
        other = {} if self.against is None else {"against": self.against}
        return {"seeds": self.seeds, "sentences": self.sentences, **other}

    def table(self) -> str:
        lines = summary(self.seeds)
        if self.against is not None:
            other = self.against
            gap = "{value:+.2f} [{low:+.2f}, {high:+.2f}] BLEU".format(**other["BLEU"])
            sure = "the models differ" if other["decided"] else "may be chance"
            if len(self.seeds["runs"]) == len(other["seeds"]["runs"]) == 1:
                sure = "these two runs differ" if other["decided"] else "may be chance"
            lines += ["", f"against {other['run']}, each run by itself", *summary(other["seeds"])]
            lines += ["", f"the means differ by {gap} (95%, over sentences and seeds): {sure}"]
        return "\n".join([*lines, "", f"{self.sentences:,} sentences"])


def summary(seeds: Mapping[str, Any]) -> list[str]:
    """A line a score: the mean, the deviation, each value."""
    lines = []
    for name, one in seeds.items():
        if name != "runs":
            spread = f" ± {one['deviation']:.2f}" if one["deviation"] is not None else ""
            each = ", ".join(f"{value:.2f}" for value in one["values"])
            lines.append(f"{name:<6}{one['mean']:6.2f}{spread}   of {len(one['values'])} seeds: {each}")
    return lines
