"""A small recipe for whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.config import change
from regard.data.examples import PairData
from regard.tasks.writing.translation import Translation
from regard.training.schedules import Constant
from regard.training.session import Recipe
from regard.training.settings import Training
from regard.zoo import get
from tests.toy import write_pairs


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    train, valid = write_pairs(tmp_path / "train.tsv", 300, 0), write_pairs(tmp_path / "valid.tsv", 20, 1)
    task = Translation(train=PairData(file=str(train)), valid=PairData(file=str(valid)), tokenizer="word")
    model = get("transformer-tiny", layers=1, width=32, heads=2, hidden=48, dropout=0.1)
    training = Training(
        batch_tokens=200, max_steps=40, validate_every=10, schedule=Constant(warmup=10), keep_checkpoints=9
    )
    return Recipe(task, model, change(training, {"rate": 5e-3}))
