"""Pre-training: a biLM learns a text from both sides; what it knows serves a tagger, frozen or tuned, and resumed."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import regard as library
from regard.checkpoint import load_model, read_tensors
from regard.data.examples import TextData
from regard.data.tokenizers import END, START
from regard.errors import DataError
from regard.models import BiLM, BiLMModel, TaggerModel
from regard.runfolder import Run, RunError
from regard.tasks.pretraining.bilm import BiLMObjective, neighbours, predicted
from regard.training.initial import reader_of
from regard.training.session import resume
from tests.conftest import Say, answer
from tests.tagged_toy import write_sentences, write_tagged
from tests.toy import losses, perform

SHORT = ["--max-steps", "40", "--validate-every", "10", "--keep-checkpoints", "9", "--optimiser", "adamw"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of text and of tagged sentences, and a biLM that read the text."""
    folder = tmp_path_factory.mktemp("bilm")
    write_sentences(folder / "text.txt", 300, 3)
    write_sentences(folder / "held.txt", 30, 4)
    write_tagged(folder / "train.tsv", 200, 0)
    write_tagged(folder / "valid.tsv", 20, 1)
    small = "--width 24 --hidden 32 --dropout 0 --optimiser adamw --rate 0.01 --batch-tokens 400".split()
    files = ["--train", str(folder / "text.txt"), "--valid", str(folder / "held.txt")]
    run = ["pretrain", "bilm", "--run", str(folder / "bilm"), *files, *small]
    perform(*run, "--max-steps", "60", "--validate-every", "30")
    return folder


def tagger(folder: Path, *more: str) -> list[str]:
    files = ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.tsv")]
    return ["train", "tag", *files, "--from", str(folder / "bilm"), "--rate", "0.01", *SHORT, *more]


# --- the objective ----------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_the_loss_is_that_of_the_next_token_and_of_the_one_before(folder: Path) -> None:
    model = load_model(Run(folder / "bilm")).eval()
    assert isinstance(model, BiLMModel)
    rows = [np.array([5, 6, 7]), np.array([8])]
    hidden, targets, head = predicted(model, rows)
    expected = 0.0
    for row in rows:
        text = torch.tensor([[START, *row, END]])
        logits = model(text)[0]  # (T, 2, V)
        expected += float(F.cross_entropy(logits[:-1, 0], text[0, 1:], reduction="sum"))
        expected += float(F.cross_entropy(logits[1:, 1], text[0, :-1], reduction="sum"))
    assert float(head.total_loss(hidden, targets)) == pytest.approx(expected, rel=1e-5)
    assert int((targets >= 0).sum()) == 2 * (4 + 2)


def test_neighbours_of_a_padded_row() -> None:
    tokens, keep = torch.tensor([[1, 5, 2, 0]]), torch.tensor([[True, True, True, False]])
    assert neighbours(tokens, keep).tolist() == [[[5, -100], [2, 1], [-100, 5], [-100, -100]]]
    assert neighbours(tokens[:, :3], None).tolist() == [[[5, -100], [2, 1], [-100, 5]]]


def test_a_bilm_learns_and_is_scored(folder: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", folder / "bilm", "--data", folder / "held.txt")
    assert result["perplexity"] < 10  # six words and the ends: chance alone is 8
    both = math.sqrt(result["forward perplexity"] * result["backward perplexity"])
    assert result["perplexity"] == pytest.approx(both)
    report = (folder / "bilm" / "report.html").read_text()
    assert re.search(r"regard pretrain bilm --config \S+/recipe\.yaml --run \S+-again", report)


def test_a_long_line_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("un deux trois quatre cinq six un\n\nsix\n")
    where = TextData(file=str(path))
    task = BiLMObjective(train=where, valid=where, tokenizer="word", pieces=20, max_length=5).open(
        tmp_path / "run", str
    )
    assert sorted(task.store.lengths(0).tolist()) == [1, 1, 3, 3]
    path.write_text("\n \n")
    with pytest.raises(DataError, match="there is no text in it"):
        BiLMObjective(train=where, valid=where, tokenizer="char").open(tmp_path / "other", str)


def test_words_have_vectors_of_every_layer_in_their_context(folder: Path) -> None:
    reader = library.load(folder / "bilm")
    words, one = reader("un deux trois")
    _, other = reader("un deux six")
    assert words == ["un", "deux", "trois"]
    assert one.shape == (3, 3, 48)
    np.testing.assert_allclose(one[0, 1], other[0, 1])  # the token's own vector knows no context
    np.testing.assert_allclose(one[1:, 1, :24], other[1:, 1, :24])  # the same was read before it
    assert (one[1:, 1, 24:] != other[1:, 1, 24:]).any()
    with pytest.raises(DataError, match="it has no words"):
        reader(" ")


@pytest.mark.parametrize(("preset", "message"), [("tagger", "from both sides"), ("gpt2", "from both sides")])
def test_another_model_is_refused(folder: Path, tmp_path: Path, regard: Say, preset: str, message: str) -> None:
    words = ["--train", folder / "text.txt", "--valid", folder / "held.txt", "--preset", preset]
    code, _, err = regard("pretrain", "bilm", "--run", tmp_path / "run", *words)
    assert code == 2
    assert message in err


# --- a tagger from it -------------------------------------------------------------------------------------------------


def test_a_tagger_around_a_bilm_mixes_its_layers_and_has_no_output_of_its_own(folder: Path) -> None:
    reader = reader_of(Run(folder / "bilm"))
    assert isinstance(reader, BiLM)
    assert reader.mix
    assert reader.head is None


@pytest.mark.parametrize("frozen", [True, False], ids=["frozen", "tuned"])
def test_frozen_weights_stay_and_others_learn_and_resuming_needs_no_bilm(
    folder: Path, tmp_path: Path, regard: Say, frozen: bool
) -> None:
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    shutil.copytree(folder / "bilm", tmp_path / "copy")
    more = ["--frozen"] if frozen else []
    for run in (whole, cut):
        words = tagger(folder, "--run", str(run.path), *more)
        words[words.index(str(folder / "bilm"))] = str(tmp_path / "copy")
        code, _, err = regard(*words)
        assert code == 0, err
    before = read_tensors(tmp_path / "copy" / "model.safetensors")
    after = read_tensors(whole.checkpoint(40) / "model.safetensors")
    taken = {name for name in before if f"reader.{name}" in after}
    assert taken == {name for name in before if not name.startswith("head.")}
    for name in taken:
        assert torch.equal(before[name], after[f"reader.{name}"]) == frozen, name
    assert not torch.equal(after["reader.mix.scores"], torch.zeros(3))
    assert float(after["reader.mix.gamma"]) != 1.0

    shutil.rmtree(tmp_path / "copy")
    for step in (30, 40):
        shutil.rmtree(cut.checkpoint(step))
    resume(cut)
    assert losses(cut) == losses(whole)
    resumed = read_tensors(cut.checkpoint(40) / "model.safetensors")
    assert all(torch.equal(resumed[name], tensor) for name, tensor in after.items())

    model = library.load(whole.path).model
    assert isinstance(model, TaggerModel)
    mix = whole.section("mix")
    assert sum(mix["weights"]) == pytest.approx(1, abs=1e-5)
    assert "How much each layer counts" in (whole.path / "report.html").read_text()


def test_where_no_checkpoint_was_written_the_bilm_is_needed(folder: Path, tmp_path: Path, regard: Say) -> None:
    shutil.copytree(folder / "bilm", tmp_path / "copy")
    words = tagger(folder, "--run", str(tmp_path / "run"), "--max-steps", "10")
    words[words.index(str(folder / "bilm"))] = str(tmp_path / "copy")
    assert regard(*words)[0] == 0
    shutil.rmtree(tmp_path / "copy")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    with pytest.raises(RunError, match=r"copy.*is missing"):
        resume(Run(tmp_path / "run"))


def test_a_run_that_reads_no_text_whole_cannot_be_begun_from(
    folder: Path,
    tmp_path: Path,
    toy,
    regard: Say,  # type: ignore[no-untyped-def]
) -> None:
    words = tagger(folder, "--run", str(tmp_path / "run"))
    words[words.index(str(folder / "bilm"))] = str(toy.good)
    code, _, err = regard(*words)
    assert code == 2
    assert "is no encoder, so only the task that it was trained for can begin from it" in err


def test_vectors_of_texts_learn_from_a_bilm(folder: Path, tmp_path: Path, regard: Say) -> None:
    """Its layers are mixed, as in a tagger; what comes out is used as that of any other model."""
    texts = (folder / "held.txt").read_text().splitlines()
    pairs = [f"{one}\t{other}\t{5 if one == other else 1}\n" for one in texts[:6] for other in texts[:6]]
    (tmp_path / "pairs.tsv").write_text("".join(pairs))
    files = ("--train", tmp_path / "pairs.tsv", "--valid", tmp_path / "pairs.tsv", "--run", tmp_path / "near")
    code, _, err = regard("train", "similar", *files, "--from", folder / "bilm", "--rate", "0.01", *SHORT)
    assert code == 0, err
    model, before = load_model(Run(tmp_path / "near")), load_model(Run(folder / "bilm"))
    assert isinstance(model, BiLMModel)
    assert model.mix is not None
    assert model.head is None
    table = [dict(one.named_parameters())["ahead.0.weight_ih_l0"] for one in (model, before)]
    assert 0 < torch.dist(*table) < 0.5 * table[1].norm()  # tuned, not learnt anew
    assert (
        json.loads(regard("evaluate", tmp_path / "near", "--data", tmp_path / "pairs.tsv", "--json")[1])["spearman"]
        > 0.5
    )
    assert regard("embed", tmp_path / "near", texts[0], "--out", tmp_path / "vectors.npy")[0] == 0
    assert np.load(tmp_path / "vectors.npy").shape == (1, model.states_width)
    code, out, _ = regard("similar", tmp_path / "near", "--lines", folder / "held.txt", texts[0])
    assert (code, texts[0] in out.splitlines()[0]) == (0, True)
    assert regard("embed", folder / "bilm", texts[0])[0] == 0  # also one that was never tuned for it
