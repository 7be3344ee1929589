"""All verdicts of an experiment together are rarely wrong: contestants that are the same, judged by the lab itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from regard.lab import bottleneck, order, scores
from regard.lab.experiment import Experiment, Result
from regard.metrics import statistics
from regard.metrics.statistics import SeedScores
from tests.tasks.test_statistics import SEED_DEVIATION, SENTENCE_ERROR

VERDICT = re.compile(r"It is (lower|higher) with|(better|worse) than that| is (higher|lower) than | falls with ")
UNDECIDED = "whether "
GROUPS = [{"name": name, "trained": True, "sentences": 1} for name in ("short", "long")]
CONTESTANTS = {
    bottleneck: [bottleneck.FIXED, bottleneck.ATTENTION, bottleneck.TRANSFORMER],
    scores: ["dot", "scaled dot", "general", "additive", "content", "location"],
    order: ["none", "fraction", "sinusoidal", "learned", "relative", "rotary", "ALiBi", "T5 buckets", "order number"],
}
EXPERIMENTS: dict[ModuleType, Callable[..., Experiment]] = {
    bottleneck: bottleneck.Bottleneck,
    scores: scores.AttentionScores,
    order: order.OrderOfWords,
}


def drawn(random: np.random.Generator, seeds: int, true: float) -> SeedScores:
    reached = random.normal(random.normal(true, SENTENCE_ERROR), SEED_DEVIATION, seeds)
    return SeedScores(reached, random.normal(reached.mean(), SENTENCE_ERROR, 1000))


def results(random: np.random.Generator, names: Sequence[str], seeds: int, better: float) -> dict[str, list[Result]]:
    """Of contestants that are the same, but for the first, which is so much better."""

    def trial(name: str) -> Result:
        true = 50 + better * (name == names[0])
        quantities = [drawn(random, seeds, true), drawn(random, seeds, true)]
        facts: dict[str, Any] = {"parameters": 1, "steps": 1, "seconds": 1.0, "pace": 0.1, "loss": 1.0, "counts": [0]}
        return {**facts, "groups": GROUPS, "links": [[1, 2]], "drawn": quantities}

    return {name: [trial(name)] * seeds for name in names}


def says_something(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, seeds: int, trials: int, better: float = 0.0
) -> float:
    """How often an experiment says of any contestant that it is better or worse, or falls."""
    monkeypatch.setattr(statistics, "DRAWS", 1000)
    monkeypatch.setattr(module, "bleu_by_group", lambda results: results[0]["drawn"])
    if module is scores:
        monkeypatch.setattr(module, "errors_of", lambda results: results[0]["drawn"][1])
    random, names = np.random.default_rng(seeds), CONTESTANTS[module]
    found = 0
    for _ in range(trials):
        told = EXPERIMENTS[module](seeds=seeds).outcome(results(random, names, seeds, better)).conclusions
        found += any(VERDICT.search(sentence) and UNDECIDED not in sentence.lower() for sentence in told)
    return found / trials


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("module", EXPERIMENTS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_verdict_of_an_experiment_is_wrong_in_19_of_20(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, seeds: int
) -> None:
    assert says_something(monkeypatch, module, seeds, 200) <= 0.06


@pytest.mark.parametrize("module", EXPERIMENTS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_what_is_far_above_the_noise_is_said(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    assert says_something(monkeypatch, module, 3, 20, better=10.0) > 0.9


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_difference_has_one_interval_wherever_it_is_stated(seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranking and the comparison with no positions state the same numbers."""
    monkeypatch.setattr(order, "bleu_by_group", lambda results: results[0]["drawn"])
    outcome = order.OrderOfWords(seeds=seeds).outcome(
        results(np.random.default_rng(1), ["rotary", "none"], seeds, better=20.0)
    )
    ranking, _, worth, *_ = outcome.conclusions
    low, high = ranking.partition("none (-")[2].partition("[")[2].partition("]")[0].split(", ")
    signs = str.maketrans("+-", "-+")
    assert f"[{high.translate(signs)}, {low.translate(signs)}]" in worth
