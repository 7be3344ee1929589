"""Texts with any number of labels: learnt, given, scored, and told apart from texts with one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import regard as library
from regard.metrics.many_labels import ManyLabelScores, as_matrix, best_threshold
from regard.sides import Labels
from tests.conftest import Say, answer
from tests.reviews import MODEL, TRAINING
from tests.toy import perform

SAID = {"dear": "price", "cheap": "price", "slow": "service", "kind": "service", "cold": "food", "tasty": "food"}


def meals(count: int, seed: int) -> list[tuple[str, str]]:
    """Texts with one to three words that each stand for a label."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        words = draw.sample(sorted(SAID), draw.randint(1, 3))
        found.append((f"it was {' and '.join(words)} today", "|".join(sorted({SAID[word] for word in words}))))
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("meals")
    for seed, (name, count) in enumerate((("train", 300), ("valid", 60), ("test", 60))):
        lines = [f"{text}\t{labels}\n" for text, labels in meals(count, seed)]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    data = ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.tsv")]
    words = ["train", "classify", "--many", "--run", str(folder / "run"), *data, *MODEL, *TRAINING[:-1], "200"]
    perform(*words)
    return folder


def test_each_label_is_found_by_itself(home: Path) -> None:
    classifier = library.load(home / "run")
    assert classifier.labels == ("food", "price", "service")
    assert classifier("it was dear and cold today") == ["food", "price"]
    assert classifier(["it was kind today", ""]) == [["service"], []]
    (found,) = classifier.results(["it was tasty and kind today"])
    assert str(found) == "food|service"
    assert found.record()["labels"] == ["food", "service"]
    assert found.record()["scores"]["price"] < 0.5


def test_the_threshold_is_that_of_the_validation_texts(home: Path) -> None:
    config = json.loads((home / "run" / "config.json").read_text())
    assert library.load(home / "run").outcome.threshold == config["labels"]["threshold"]
    assert 0 < config["labels"]["threshold"] < 1


def test_a_look_shows_each_label_with_a_chance_of_its_own(home: Path, regard: Say) -> None:
    text = "it was cheap and slow today"
    (found,) = library.load(home / "run").results([text])
    look = json.loads(regard("look", home / "run", text, "--json")[1])
    assert look["sides"]["label"]["text"] == "price|service"
    assert {one["label"]: one["probability"] for one in look["verdicts"]} == pytest.approx(
        found.record()["scores"], abs=1e-4
    )


def test_verbs_print_and_score_them(home: Path, regard: Say) -> None:
    assert answer(regard, "classify", home / "run", "it was cheap and slow today")["labels"] == ["price", "service"]
    result = answer(regard, "evaluate", home / "run", "--data", home / "test.tsv")
    assert result["micro_f1"] > 0.95
    assert result["intervals"]["macro_f1"][0] <= result["macro_f1"] <= result["intervals"]["macro_f1"][1]
    assert set(result["classes"]) == {"food", "price", "service"}
    assert result["texts"] == 60
    assert "micro-F1" in regard("evaluate", home / "run", "--data", home / "test.tsv")[1]


def test_a_column_that_looks_like_several_labels_is_not_taken_for_one(home: Path, regard: Say, tmp_path: Path) -> None:
    words = ["train", "classify", "--train", home / "train.tsv", "--valid", home / "valid.tsv", "--run", tmp_path / "r"]
    code, _, err = regard(*words, *MODEL)
    assert code == 2
    assert "looks like several labels: say --many" in err
    assert not (tmp_path / "r").exists()


def test_names_that_hold_the_sign_by_chance_are_labels(regard: Say, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a b\tx|y\nc d\tz\n" * 5, encoding="utf-8")
    words = ["--train", tmp_path / "t.tsv", "--valid", tmp_path / "t.tsv", "--max-steps", 1, "--validate-every", 1]
    assert regard("train", "classify", *words, "--run", tmp_path / "r", *MODEL)[0] == 0


def test_a_label_that_training_never_had_is_named(home: Path, regard: Say, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("it was dear\tprice|staff\n", encoding="utf-8")
    code, _, err = regard("evaluate", home / "run", "--data", tmp_path / "t.tsv")
    assert code == 2
    assert "line 1" in err
    assert "'staff', which no training text has" in err


# --- by formula -------------------------------------------------------------------------------------------------------


def scores() -> ManyLabelScores:
    right = as_matrix([[0], [0, 1], [2], []], 3)
    given = np.array([[0.9, 0.2, 0.1], [0.8, 0.1, 0.7], [0.3, 0.1, 0.6], [0.1, 0.1, 0.2]])
    return ManyLabelScores(("a", "b", "c"), right, given, 0.5)


def test_micro_and_macro_f1_are_those_of_their_formulas() -> None:
    found = scores().metrics()
    assert found["micro_f1"] == pytest.approx(2 * 3 / (4 + 4))  # three of four found, four right
    assert found["macro_f1"] == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert found["exact"] == 3 / 4
    logits = torch.tensor(scores().probabilities).logit()
    wanted = F.binary_cross_entropy_with_logits(logits, torch.tensor(scores().right).double())
    assert found["loss"] == pytest.approx(float(wanted))


def test_a_label_that_just_reaches_the_threshold_is_found() -> None:
    right, given = np.array([[True, False]]), np.array([[0.5, 0.49]])
    assert ManyLabelScores(("a", "b"), right, given, 0.5).figures() == {"micro_f1": 1.0, "macro_f1": 1.0, "exact": 1.0}


def test_the_best_threshold_stands_halfway_between_what_it_parts() -> None:
    right, given = np.array([[True, True, False, False]]), np.array([[0.9, 0.7, 0.3, 0.1]])
    assert best_threshold(right, given) == pytest.approx(0.5)
    assert best_threshold(np.ones((1, 2), dtype=bool), np.array([[0.9, 0.7]])) == pytest.approx(0.35)  # nothing below


def test_the_best_threshold_is_the_best_of_all() -> None:
    random_numbers = np.random.default_rng(0)
    right = random_numbers.random((40, 5)) < 0.3
    given = np.clip(right * 0.4 + random_numbers.random((40, 5)) * 0.6, 0, 1)
    best = ManyLabelScores(tuple("abcde"), right, given, best_threshold(right, given)).metrics()["micro_f1"]
    tried = [ManyLabelScores(tuple("abcde"), right, given, t).metrics()["micro_f1"] for t in np.linspace(0, 1, 201)]
    assert best >= max(tried)


def test_rare_labels_weigh_more_where_it_is_balanced() -> None:
    side = Labels(("a", "b"))
    side.learnt([[0], [0], [0, 1], [0]], True, "training texts", print)
    assert side.weights is not None
    assert side.weights.tolist() == [0.0, 3.0]
    logits = torch.tensor([[1.0, -1.0]])
    wanted = F.binary_cross_entropy_with_logits(logits, torch.tensor([[0.0, 1.0]]), pos_weight=side.weights)
    torch.testing.assert_close(side.loss(logits, [[1]], 0.0), wanted)


def test_two_readings_that_agree_cost_as_much_as_one() -> None:
    side, logits = Labels(("a", "b")), torch.tensor([[1.0, -1.0], [0.3, 0.2]])
    one = side.loss(logits, [[1], [0, 1]], 0.0)
    torch.testing.assert_close(side.loss(logits.repeat(2, 1), [[1], [0, 1]], 5.0), one)
    apart = side.loss(torch.cat([logits, logits + 1]), [[1], [0, 1]], 5.0)
    assert apart > side.loss(torch.cat([logits, logits + 1]), [[1], [0, 1]], 1e-9)
