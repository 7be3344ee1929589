"""What translation learns from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from regard import zoo
from regard.data.examples import PairData
from regard.models import Model, SourceWriterConfig
from regard.tasks.writing.translation import Translation, TranslationTask
from tests import toy


def opened(folder: Path, dropout: float) -> tuple[TranslationTask, Model]:
    pairs = PairData(file=str(toy.write_pairs(folder / "pairs.tsv", 40, seed=1)))
    task = Translation(train=pairs, valid=pairs, tokenizer="word").open(folder, lambda line: None)
    torch.manual_seed(0)
    model = task.fit(zoo.get("translator", width=32, heads=2, hidden=48, layers=1, dropout=dropout)).build()
    return task, model.train()


def both_losses(folder: Path, dropout: float) -> tuple[float, float]:
    """Of some pairs of different lengths, read once and read twice so that they shall agree."""
    task, model = opened(folder, dropout)
    rows = [task.store.rows(side, np.arange(12)) for side in (0, 1)]
    (once, tokens), (twice, same) = (
        task.pair_loss(model, rows[0], rows[1], 0.1, agreement) for agreement in (0.0, 50.0)
    )
    assert tokens == same
    return float(once.detach()), float(twice.detach())


def test_passes_without_dropout_agree(tmp_path: Path) -> None:
    once, twice = both_losses(tmp_path, dropout=0.0)
    np.testing.assert_allclose(twice, once, rtol=1e-5)


def test_passes_that_disagree_cost_more(tmp_path: Path) -> None:
    once, twice = both_losses(tmp_path, dropout=0.4)
    assert twice > once * 1.2


def test_a_source_with_a_table_of_its_own_has_as_many_pieces_as_there_are(tmp_path: Path) -> None:
    task, _ = opened(tmp_path, 0.0)
    pieces = task.tokenizer.vocabulary
    for preset, own in (("bahdanau-2015", pieces), ("sutskever-2014", pieces), ("translator", None)):
        model = task.fit(zoo.get(preset))
        assert isinstance(model, SourceWriterConfig)
        assert (model.vocabulary, model.source_vocabulary) == (pieces, own)
