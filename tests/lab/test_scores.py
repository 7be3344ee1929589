"""Six scores of equal size; who is best is said with what cannot be told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regard.lab.experiment import Result
from regard.lab.order import OrderOfWords
from regard.lab.scores import AttentionScores
from regard.lab.sizes import SIZE_TOLERANCE, parameters
from regard.lab.translators import Translators
from tests.lab import synthetic

TINY = {"seeds": 1, "pairs": 200, "pieces": 200, "valid": 4, "sentences": 3, "batch_tokens": 200, "steps": 3}


@pytest.mark.parametrize(
    ("experiment", "names"),
    [
        (AttentionScores(), ["dot", "scaled dot", "general", "additive", "content", "location"]),
        (
            OrderOfWords(),
            ["none", "order number", "fraction", "sinusoidal", "learned", "relative", "rotary", "ALiBi", "T5 buckets"],
        ),
    ],
    ids=["scores", "order"],
)
def test_all_are_there_and_of_equal_size(experiment: Translators, names: list[str]) -> None:
    models = experiment.contestants(3000)
    assert list(models) == names
    assert len(set(models.values())) == len(names)
    sizes = [parameters(model) for model in models.values()]
    assert max(sizes) / min(sizes) - 1 < SIZE_TOLERANCE


def result(quality: float, agreeing: int, pace: float = 0.1, seed: int = 0) -> Result:
    links = [[agreeing, 20]] * 100
    groups = [{"name": "test", "trained": True, "sentences": 100}]
    return synthetic.result([quality], groups, seed, links=links, pace=pace)


def test_the_best_score_is_named_with_those_that_cannot_be_told_from_it() -> None:
    outcome = AttentionScores().outcome(
        {
            "dot": [result(0.8, 7), result(0.8, 7, seed=2)],
            "additive": [result(0.795, 9, 0.15, seed=1), result(0.795, 9, 0.15, seed=3)],
            "location": [result(0.5, 2), result(0.5, 2, seed=4)],
        }
    )
    bleu, error, time, sure, *_ = outcome.conclusions
    assert bleu.startswith("The highest BLEU is that of ")
    assert "It is lower with location (-" in bleu
    assert "The difference is not decided for " in bleu
    assert error.startswith("The lowest alignment error in per cent is that of additive: 10.0")
    assert "It is higher with dot (+20.0" in error
    assert (
        time
        == "The quickest training step is that of dot, 100 ms; it takes location 1.00 and additive 1.50 times as long."
    )
    assert "are not told apart" in sure
    assert outcome.values["noise"]["decided"] > outcome.values["noise"]["seed_deviation"] > 0
    assert outcome.values["contestants"]["dot"]["alignment_error"]["value"] == pytest.approx(30.0)
    assert [panel.title for panel in outcome.panels] == ["BLEU", "Alignment error", "Time of a training step"]


def test_no_interval_leaves_the_scale_of_what_it_is_about() -> None:
    outcome = AttentionScores().outcome(
        {"dot": [result(0.05, 1), result(0.3, 0)], "general": [result(0.9, 10), result(0.2, 10, seed=1)]}
    )
    for one in outcome.values["contestants"].values():
        for quantity in ("bleu", "alignment_error"):
            found = one[quantity]
            assert 0 <= found["low"] <= found["value"] <= found["high"] <= 100


def test_one_seed_allows_no_verdict_about_models() -> None:
    outcome = AttentionScores(seeds=1).outcome({"dot": [result(0.9, 7)], "general": [result(0.6, 9, seed=1)]})
    bleu, error, _, sure = outcome.conclusions
    assert bleu.startswith("In these runs the highest BLEU is that of dot")
    assert error.startswith("In these runs the lowest alignment error")
    assert "of these runs and not of the models" in sure


def test_who_learnt_too_little_is_not_ranked() -> None:
    outcome = AttentionScores(seeds=1).outcome(
        {"dot": [result(0.9, 7)], "general": [result(0.8, 9, seed=1)], "location": [result(0.02, 2)]}
    )
    assert not any("location" in sentence for sentence in outcome.conclusions[:2])
    assert re.match(r"Location \(\d\.\d BLEU\) learnt too little to be compared\.$", outcome.conclusions[2])
    nobody = AttentionScores(seeds=1).outcome({name: [result(0.02, 2)] for name in ("dot", "general")})
    assert re.match(r"Dot \(.+\) and general \(.+\) learnt too little to be compared\.$", nobody.conclusions[0])


def test_without_gold_alignments_there_is_no_error_rate() -> None:
    outcome = AttentionScores().outcome({name: [{**result(0.5, 5), "links": []}] for name in ("dot", "general")})
    assert not any("alignment" in sentence for sentence in outcome.conclusions)
    assert outcome.values["contestants"]["dot"]["alignment_error"] is None


def test_a_trial_leaves_links_and_counts(tmp_path: Path) -> None:
    experiment = AttentionScores(**TINY, hidden=32, width=32)  # type: ignore[arg-type]
    trial = next(one for one in experiment.trials(tmp_path, lambda line: None) if one.contestant == "location")
    found = trial.run(tmp_path / "trial")
    assert len(found["counts"]) == len(found["links"]) == 3
    assert all(0 <= agree <= both / 2 for agree, both in found["links"])
    assert found["pace"] > 0
