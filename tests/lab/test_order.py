"""Position schemes: within the trained lengths and beyond them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regard.config import ConfigError
from regard.lab.experiment import Result
from regard.lab.order import OrderOfWords
from tests.lab import synthetic
from tests.lab.test_scores import TINY

GROUPS = [
    {"name": "within", "trained": True, "sentences": 100},
    {"name": "beyond", "trained": False, "sentences": 100},
]


def result(within: float, beyond: float, seed: int = 0) -> Result:
    return synthetic.result([within, beyond], GROUPS, seed)


def test_schemes_are_told_from_none_and_from_each_other() -> None:
    def seeds(within: float, beyond: float, first: int) -> list[Result]:
        return [result(within, beyond, seed=first), result(within, beyond, seed=first + 1)]

    results = {
        "none": seeds(0.5, 0.3, 0),
        "sinusoidal": seeds(0.9, 0.3, 2),
        "ALiBi": seeds(0.9, 0.8, 2),
        "fraction": seeds(0.5, 0.3, 4),
        "order number": seeds(0.35, 0.1, 6),
    }
    outcome = OrderOfWords().outcome(results)
    within, beyond, worth, *_ = outcome.conclusions
    assert "The difference is not decided for ALiBi (-0.0 [" in within
    assert beyond.startswith("The highest BLEU beyond them is that of ALiBi")
    better, not_told, worse = worth.split("; ")
    assert "sinusoidal (+" in better
    assert "ALiBi (+" in better
    assert "not told from that of no positions with fraction (" in not_told
    assert "worse than that of no positions with order number (-" in worse
    assert outcome.values["contestants"]["sinusoidal"]["change"]["high"] < 0


def test_a_scheme_that_learnt_too_little_is_in_no_verdict() -> None:
    seeds = {"none": (0.5, 0.4), "rotary": (0.9, 0.8), "fraction": (0.02, 0.9)}
    results = {name: [result(*qualities, seed=one) for one in range(3)] for name, qualities in seeds.items()}
    told = [one for one in OrderOfWords().outcome(results).conclusions if "fraction" in one.lower()]
    assert len(told) == 1
    assert re.match(r"Fraction \(\d\.\d BLEU\) learnt too little to be compared\.$", told[0])


def test_test_sentences_beyond_are_longer_than_those_within(tmp_path: Path) -> None:
    experiment = OrderOfWords(**TINY, width=32)  # type: ignore[arg-type]
    within, beyond = experiment.groups
    longest = max(len(pair.source_words) for pair in within.pairs)
    assert all(len(pair.source_words) > longest for pair in beyond.pairs)
    trial = next(one for one in experiment.trials(tmp_path, lambda line: None) if one.contestant == "fraction")
    assert len(trial.run(tmp_path / "trial")["counts"]) == 6


def test_a_corpus_without_longer_sentences_is_refused() -> None:
    with pytest.raises(ConfigError, match="data multi30k: it has no sentences that are longer"):
        OrderOfWords(data="multi30k", languages="en-de")
