"""Six scores of equal size; who is best is said with what cannot be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.lab.experiment import Result
from regard.lab.order import OrderOfWords
from regard.lab.scores import Scores
from regard.lab.sizes import TOLERATED, parameters
from regard.lab.translators import Translators
from tests.lab import synthetic

TINY = {"seeds": 1, "pairs": 200, "pieces": 200, "valid": 4, "sentences": 3, "batch_tokens": 200, "steps": 3}


@pytest.mark.parametrize(
    ("experiment", "names"),
    [
        (Scores(), ["dot", "scaled dot", "general", "additive", "content", "location"]),
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
    assert max(sizes) / min(sizes) - 1 < TOLERATED


def result(quality: float, agreeing: int, pace: float = 0.1, seed: int = 0) -> Result:
    links = [[agreeing, 20]] * 100
    groups = [{"name": "test", "trained": True, "sentences": 100}]
    return synthetic.result([quality], groups, seed, links=links, pace=pace)


def test_the_best_score_is_named_with_those_that_cannot_be_told_from_it() -> None:
    outcome = Scores().outcome(
        {"dot": [result(0.8, 7)], "additive": [result(0.795, 9, 0.15, seed=1)], "location": [result(0.3, 2)]}
    )
    bleu, error, time, *_ = outcome.conclusions
    assert bleu.startswith("highest BLEU: ")
    assert "not decided against" in bleu
    assert "lower: location (-" in bleu
    assert error.startswith("lowest alignment error in per cent: additive, 10.0")
    assert "higher: dot (+20.0" in error
    assert time == "quickest step: dot, 100 ms; times as long: location 1.00, additive 1.50"
    assert outcome.values["contestants"]["dot"]["alignment_error"]["value"] == pytest.approx(30.0)
    assert [title for title, _ in outcome.panels] == ["BLEU", "Alignment error", "Time of a training step"]


def test_without_gold_alignments_there_is_no_error_rate() -> None:
    outcome = Scores().outcome({name: [{**result(0.5, 5), "links": []}] for name in ("dot", "general")})
    assert not any("alignment" in sentence for sentence in outcome.conclusions)
    assert outcome.values["contestants"]["dot"]["alignment_error"] is None


def test_a_trial_leaves_links_and_counts(tmp_path: Path) -> None:
    experiment = Scores(**TINY, hidden=32, width=32)  # type: ignore[arg-type]
    trial = next(one for one in experiment.trials(tmp_path, lambda line: None) if one.contestant == "location")
    found = trial.run(tmp_path / "trial")
    assert len(found["counts"]) == len(found["links"]) == 3
    assert all(0 <= agree <= both / 2 for agree, both in found["links"])
    assert found["pace"] > 0
