"""What comes after the last step is told as it goes, and takes no more sentences than it says."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from regard.config import change
from regard.data import progress
from regard.data.examples import PairData
from regard.runfolder import Run
from regard.tasks.writing import translation
from regard.tasks.writing.alignment import choose_reading, cross_weights
from regard.tasks.writing.translation import load_translator
from regard.tasks.writing.translator import Translator
from regard.training.session import Recipe, resume, start
from tests.toy import Toy, write_pairs

VALID = 150


@pytest.fixture
def aligned(tmp_path: Path, recipe: Recipe) -> Recipe:
    """Of which the validation pairs have gold links."""
    valid = PairData(file=str(write_pairs(tmp_path / "valid.jsonl", VALID, 1)))
    return change(recipe, {"task.valid": {"file": valid.file}, "max_steps": 4, "validate_every": 2})


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is told at once instead of every few seconds."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)


@pytest.mark.usefixtures("talkative")
def test_choosing_the_layer_and_making_the_report_tell_how_far_they_are(
    tmp_path: Path, aligned: Recipe, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(tmp_path / "run")
    start(run, aligned)
    before, after = capsys.readouterr().err.split("all steps done\n")
    assert f"validating, sentence pairs: {2 * VALID} of {2 * VALID}" in before
    assert after.startswith("looking at the weights that are kept, for the report\n")
    most = translation.PAIRS_ALIGNED
    assert f"choosing the layer that aligns words, pairs: 16 of {most}" in after
    assert f"choosing the layer that aligns words, pairs: {most} of {most}" in after
    assert f"translating for the report, sentences: {VALID} of {VALID}" in after
    resume(run)  # it is over; nothing is known of what a validation wrote
    assert f"translating for the report, sentences: {VALID} of {VALID}" in capsys.readouterr().err


def test_a_bar_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for bar in (True, False):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with progress.counting("translating", 3, bar=bar) as done:
            done(2)
        assert ("translating" in sys.stderr.getvalue()) == bar  # type: ignore[attr-defined]


def test_what_a_validation_wrote_is_not_written_again_for_the_report(
    tmp_path: Path, aligned: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    translated, plain = [], Translator.texts

    def counted(self: Translator, texts: list[str], *given: object, **named: object) -> list[str]:
        translated.append(len(texts))
        return plain(self, texts, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Translator, "texts", counted)
    run = Run(tmp_path / "run")
    start(run, aligned)
    assert translated == [VALID, VALID]  # two validations
    assert "BLEU by length" in (run.path / "report.html").read_text()
    resume(run)
    assert translated == [VALID] * 3


def test_the_layer_is_chosen_in_one_pass_of_each_pair(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = load_translator(toy.good)
    pairs = list(PairData(file=str(toy.file("test.jsonl"))).pairs())
    model, read = type(translator.model), []
    plain = model.features

    def counted(self: object, source: object, *given: object) -> object:
        read.append(len(source))  # type: ignore[arg-type]
        return plain(self, source, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(model, "features", counted)
    best, error = choose_reading(translator, pairs)
    assert sum(read) == len(pairs)
    monkeypatch.undo()
    links = [best.links(one) for one in cross_weights(translator, pairs, best)]
    assert links == [best.links(cross_weights(translator, [pair], best)[0]) for pair in pairs]
    assert 0 <= error < 0.5
