"""How a translator is scored: alone, together with others, beside another, or each seed of a folder by itself."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.config import Config
from regard.data.pairs import Pair, skipped
from regard.decoding import Decoding
from regard.metrics.statistics import Contest, Interval, Resampling, bleu, sentence_counts
from regard.metrics.translations import ScoresOfSeeds, TranslationScores, bleu_of, compare, score
from regard.results import Scores
from regard.runfolder import Run, RunError
from regard.tasks.base import Evaluation, rounded
from regard.tasks.writing.alignment import error_rate
from regard.tasks.writing.translator import Translator, chosen_search

SeedTexts = Sequence[Sequence[str]]  # the translations of each seed


@dataclass(frozen=True)
class Beside(Config):
    """With what a translator is scored. A paired bootstrap says how it differs from the run `against`; the runs `with`
    which it translates together are one with it. `each` scores the seeds of a folder one by one. `tokenised` is the
    language of the lower-cased tokens that are scored too."""

    against: str | None = None
    together: tuple[str, ...] = ()
    each: bool = False
    tokenised: str | None = None


def evaluate(asked: Evaluation, own: Any, load: Any) -> Scores:
    """The scores of the translations of a run, whose translators `load` gives."""
    given = {"together" if name == "with" else name: value for name, value in asked.options.items()}
    beside = Beside(**{name: given.pop(name) for name in ("against", "together", "each", "tokenised") if name in given})
    search = chosen_search(**given)
    if beside.each:
        return scores_of_seeds(asked, own, beside, search, load)
    first, *others = (rounded(load(one), asked.int8) for one in (asked.run.path, *beside.together))
    translator: Translator = first.beside(others)
    other = rounded(load(beside.against), asked.int8) if beside.against else None
    pairs = read_pairs(asked, own)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    begun = time.perf_counter()
    found = translated(asked, translator, search, sources, "")
    seconds = time.perf_counter() - begun
    measured: dict[str, Any] = {
        "search": {"sample": search.sample, "beam": search.beam, "length penalty": search.length_penalty},
        "sentences per second": len(pairs) / seconds,
        "tokens per second": sum(map(len, translator.tokenizer.encode(found))) / seconds,
    }
    if names := together(asked.run.path, beside.together):
        measured["together"] = names
    gold = [pair for pair in pairs if pair.alignment]
    if gold and translator.reading is not None:
        error = error_rate(translator, gold, translator.reading)
        measured["alignment"] = {"layer": translator.reading.layer, "error rate": error, "sentences": len(gold)}
    if other is not None and beside.against is not None:
        others = translated(asked, other, search, sources, f" by {beside.against}")
        measured["against"] = {
            "run": beside.against,
            "together": together(beside.against),
            **{name: vars(one) for name, one in compare(found, others, references).items()},
        }
    return TranslationScores(sources, found, references, beside.tokenised, measured)


def together(run: Any, others: Sequence[str] = ()) -> list[str]:
    """The runs that translate together; none where one translates by itself."""
    found = [*(str(seed.path) for seed in Run(run).seeds() or [Run(run)]), *others]
    return found if len(found) > 1 else []


def read_pairs(asked: Evaluation, own: Any) -> list[Pair]:
    source = asked.examples(own)
    pairs = list(source)
    if count := skipped(source):
        asked.say(f"{count:,} empty lines were skipped")
    return pairs


def translated(
    asked: Evaluation, translator: Translator, search: Decoding, sources: Sequence[str], whose: str
) -> list[str]:
    with asked.counting(f"sentences translated{whose}", len(sources)) as done:
        found = translator.translate(sources, search, asked.batch or 32, asked.say, done)
    return [best[0].text for best in found]


# --- seeds ------------------------------------------------------------------------------------------------------------


def scores_of_seeds(asked: Evaluation, own: Any, beside: Beside, search: Decoding, load: Any) -> ScoresOfSeeds:
    """The scores of each run of a folder; beside those of another folder or run, the difference of the means."""
    if beside.together:
        raise RunError("--each scores every run by itself: leave out --with, which makes them translate together")
    runs = asked.run.seeds()
    if not runs:
        raise RunError(f"--each is for a folder of several seeds; {asked.run.path} is no such folder")
    pairs = read_pairs(asked, own)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]

    def of(some: Sequence[Run]) -> list[list[str]]:
        return [
            translated(asked, rounded(load(run.path), asked.int8), search, sources, f" by {run.path}") for run in some
        ]

    found, against = of(runs), None
    if beside.against:
        others = Run(beside.against).seeds() or [Run(beside.against)]
        theirs = of(others)
        gap = difference_of_means(found, theirs, references)
        against = {
            "run": beside.against,
            "seeds": scored(others, theirs, references),
            "BLEU": gap.plain(),
            "decided": not gap.low <= 0 <= gap.high,
        }
    return ScoresOfSeeds(scored(runs, found, references), len(pairs), against)


def difference_of_means(found: SeedTexts, theirs: SeedTexts, references: Sequence[str]) -> Interval:
    """By how much the mean BLEU of some seeds' translations is above that of others: over sentences and, where there
    are several, over seeds. So models are compared, not ensembles."""
    metric, draw = bleu_of(references), Resampling(len(references))
    counts = [np.array([sentence_counts(one, references, metric) for one in some]) for some in (found, theirs)]
    scores = dict(zip(("own", "other"), (draw(bleu, some) for some in counts), strict=True))  # of (S, N, 10)
    return Contest(scores).differences()["own", "other"]


def scored(runs: Sequence[Run], translations: SeedTexts, references: Sequence[str]) -> dict[str, Any]:
    """Each score of each run, their mean and standard deviation."""
    each = [score(found, references) for found in translations]
    result: dict[str, Any] = {"runs": [str(run.path) for run in runs]}
    for name, first in each[0].items():
        values = [one[name].value for one in each]
        result[name] = {
            "values": values,
            "mean": statistics.mean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None,
            "signature": first.signature,
        }
    return result
