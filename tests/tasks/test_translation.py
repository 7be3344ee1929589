"""What translation learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from regard import zoo
from regard.data.examples import PairData
from regard.data.words import words
from regard.look.alignment import Reading
from regard.models import Model, SourceWriterConfig
from regard.page.records import Cards, Prose
from regard.tasks.writing.alignment import error_rate
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


def test_the_report_tells_each_sentence_its_own_alignment_error(tmp_path: Path) -> None:
    """The error of all of them is told once, above the maps."""
    task, model = opened(tmp_path, 0.0)
    lengths = [(len(words(pair.source)), len(words(pair.target))) for pair in task.valid]
    task.valid = [
        replace(pair, alignment=tuple((i, i) for i in range(min(lengths[n]))) if n % 2 else ())
        for n, pair in enumerate(task.valid)
    ]
    findings = task.findings(model.eval())
    whole = findings["alignment"]["error_rate"]
    (_, section) = task.sections(model, findings)
    told, cards = section.content
    assert isinstance(told, Prose)
    assert isinstance(cards, Cards)
    assert f"{whole:.2f}" in told.text
    assert "In every map the full shade is a weight of 1." in told.text
    reading = Reading(findings["alignment"]["layer"], findings["alignment"]["shift"])
    pairs = {pair.source: pair for pair in task.fitting_a_slide()}
    assert len(cards.cards) == len(pairs)
    errors = set()
    for card in cards.cards:
        source, _, error = card.title.partition(" · error ")
        pair = pairs[source]
        assert bool(error) == bool(pair.alignment)
        if error:
            own = error_rate(task.tool(model), [pair], reading)
            assert error == f"{own:.2f}"
            errors.add(error)
    assert len(errors) > 1
