"""Scores of translations, each with the signature that says how it was computed.

sacreBLEU is imported by what scores: its import takes a quarter of a second, which translating does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.data.words import unspaced, words
from regard.errors import Error

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric
    from sacrebleu.metrics.bleu import BLEU

BUCKETS = (5, 10, 15, 20, 30, 40, 60)  # upper ends, in words of the source


@dataclass(frozen=True)
class Score:
    """A figure and the exact way in which it was computed."""

    value: float
    signature: str


CUTS = {"": "13a", "han": "zh", "other": "char"}  # what sacreBLEU calls its ways to cut a text into words, by script


def bleu_of(references: Sequence[str]) -> BLEU:
    """BLEU as it is for references of their script: by words, or by characters where no spaces part words."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=CUTS[unspaced(references)])


def score(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, Score]:
    """BLEU, chrF and TER of a corpus."""
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    apart = bool(unspaced(references))
    ter = TER(normalized=apart, asian_support=apart)
    metrics: dict[str, Metric] = {"BLEU": bleu_of(references), "chrF": CHRF(), "TER": ter}
    results = {}
    for name, metric in metrics.items():
        value = metric.corpus_score(list(hypotheses), [list(references)]).score
        results[name] = Score(value, str(metric.get_signature()))
    return results


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    return float(bleu_of(references).corpus_score(list(hypotheses), [list(references)]).score)


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    from sacrebleu.metrics.chrf import CHRF

    return float(CHRF().corpus_score(list(hypotheses), [list(references)]).score)


def tokenised_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Score:
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
    return Score(value, f"{metric.get_signature()}|lower-cased|sacremoses:{language}")


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
