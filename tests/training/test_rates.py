"""Which rate to learn at."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from regard.training.schedules import Rise
from tests.conftest import Say
from tests.toy import MODEL, write_pairs


def test_the_rate_rises_by_the_same_factor_from_the_lowest_to_the_highest() -> None:
    factors = [Rise(low=0.01, high=10).factor(step, 31) for step in range(1, 32)]
    assert (factors[0], factors[-1]) == (pytest.approx(0.01), pytest.approx(10))
    assert all(after / before == pytest.approx(10**0.1) for before, after in itertools.pairwise(factors))


def test_the_advice_is_a_rate_that_learns_and_nothing_is_kept(regard: Say, tmp_path: Path) -> None:
    train, valid = write_pairs(tmp_path / "train.tsv", 300, seed=1), write_pairs(tmp_path / "valid.tsv", 20, seed=2)
    files = ["--train", train, "--valid", valid, "--run", tmp_path / "run", *MODEL, "--batch-tokens", 400]
    code, out, _ = regard("train", "translate", *files, "--optimiser", "adamw", "--rate", 0.001, "--find-rate", 100)
    assert code == 0
    assert not (tmp_path / "run").exists()
    advised = re.search(r"^advised: --rate (\S+)$", out, re.MULTILINE)
    assert advised is not None
    assert 1e-3 < float(advised.group(1)) < 0.02  # this model learns well at 0.005
    assert len(out.splitlines()) > 10
