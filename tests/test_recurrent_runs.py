"""Recurrent translators with the same commands: trained, used, scored and looked at as any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.look import look, open_run
from regard.runfolder import Run
from regard.tasks.writing.translation import load_translator
from tests.conftest import Say, answer
from tests.toy import LONGEST, Toy, meaning, perform, sentences

SMALL = "--tokenizer word --width 24 --hidden 32 --layers 1 --dropout 0".split()
TRAINING = "--batch-tokens 300 --optimiser adamw --rate 0.01 --warmup 10 --validate-every 150 --max-steps 300".split()


@pytest.fixture(scope="module")
def runs(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("recurrent")
    data = ["--train", str(toy.file("train.tsv")), "--valid", str(toy.file("valid.jsonl"))]
    for preset in ("bahdanau-2015", "luong-2015-local-p", "cho-2014"):
        shape = [*SMALL, "--source-vocabulary", "null", "--max-length", str(LONGEST + 1)]
        perform("train", "translate", "--preset", preset, "--run", folder / preset, *data, *shape, *TRAINING)
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("preset", ["bahdanau-2015", "luong-2015-local-p"])
def test_a_recurrent_translator_learns_and_is_looked_at(runs: dict[str, Path], preset: str) -> None:
    translator = load_translator(runs[preset])
    texts = sentences(50, seed=11)
    found = translator(texts)
    right = sum(one == meaning(text) for one, text in zip(found, texts, strict=True))
    assert right >= 45
    seen = look(open_run(runs[preset]), texts[0])
    assert [layer.name for layer in seen.layers] == ["decoder.0.cross"]
    assert seen.family == "encoder-decoder"
    assert seen.lens is None
    assert seen.alignment is not None
    assert Run(runs[preset]).probed() == [150, 300]


def test_bahdanaus_attention_aligns_words(runs: dict[str, Path], regard: Say, toy: Toy) -> None:
    found = answer(regard, "evaluate", runs["bahdanau-2015"], "--data", toy.file("test.jsonl"))
    assert found["alignment"]["error rate"] < 0.2


def test_a_run_without_attention_has_no_alignment_and_says_so(runs: dict[str, Path], regard: Say, toy: Toy) -> None:
    run = runs["cho-2014"]
    assert "alignment" not in Run(run).read_config()
    assert "alignment" not in answer(regard, "evaluate", run, "--data", toy.file("test.jsonl"))
    code, _, err = regard("translate", run, "un deux", "--align")
    assert code == 2
    assert "no attention to its source" in err
    assert look(open_run(run), "un deux").alignment is None


def test_a_word_is_followed_through_a_step_of_the_decoder(runs: dict[str, Path]) -> None:
    """With attention or without it, and its end is what a look expects there."""
    from regard.look import way

    for name, folder in runs.items():
        subject = open_run(folder)
        found = way(subject, "un deux", place=1)
        assert ("looked" in [stage["stage"] for stage in found.stages]) == (name != "cho-2014")
        assert found.predictions is not None
        best = look(subject, "un deux").predictions[1].best
        assert found.predictions.tokens[: len(best)] == [choice.token for choice in best]
