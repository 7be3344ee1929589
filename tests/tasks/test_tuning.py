"""Beginning from a masked language model: texts framed as it read them, its pooled vector, rates by layer."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
import torch

import regard as library
from regard.checkpoint import read_tensors
from regard.config import ConfigError
from regard.data.store import Store
from regard.models import Classifier, ClassifierModel, EncoderModel
from regard.nn.pooling import FirstToken, Mean
from regard.runfolder import Run, load_tokenizer
from regard.training.initial import Initial, depths, slow_down
from regard.training.optimisers import AdamW, MuonAndAdamW
from regard.training.session import resume
from regard.zoo import get
from tests.conftest import Say, answer
from tests.documents import DOES, QUICK, TINY, write_texts
from tests.tagged_toy import write_tagged
from tests.toy import Toy, perform

STEPS = "--max-steps 120 --validate-every 60 --keep-checkpoints 9 --rate 0.005 --warmup 5".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pre-trained run with pairs and one without, and texts labelled by the animal that they are about."""
    folder = tmp_path_factory.mktemp("tuning")
    write_texts(folder / "text.txt", 200, 0)
    files = ["--train", str(folder / "text.txt")]
    steps = ["--max-steps", "60", "--validate-every", "60"]
    start = ["pretrain", "mlm", *files, *TINY, *QUICK, *steps]
    perform(*start, "--run", folder / "bert", "--preset", "bert-mini", "--next-sentence")
    roberta = ["--preset", "roberta-mini", "--tokenizer", "bpe", "--pieces", "320", "--lower", "false"]
    perform(*start, "--run", folder / "roberta", *roberta)
    draw = random.Random(0)
    for name, count in (("train", 160), ("valid", 40)):
        who = [draw.choice(sorted(DOES)) for _ in range(count)]
        lines = [f"We saw it. The {one} {draw.choice(DOES[one])}.\t{one}\n" for one in who]
        (folder / f"{name}.tsv").write_text("".join(lines))
    return folder


def classify(folder: Path, run: Path, begin: str, *more: str) -> list[str]:
    files = ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.tsv")]
    return ["train", "classify", *files, "--from", str(folder / begin), "--run", str(run), *STEPS, *more]


def test_a_classifier_reads_between_start_and_end(folder: Path, tmp_path: Path, regard: Say) -> None:
    for begin in ("bert", "roberta"):
        run = tmp_path / begin
        code, _, err = regard(*classify(folder, run, begin))
        assert code == 0, err
        classifier = library.load(run)
        assert isinstance(classifier.model.config, Classifier)
        assert classifier.model.config.pool == Mean()
        assert classifier.source.framed
        tokenizer = load_tokenizer(Run(run))
        for row in Store.open(run / "tokens").rows(0, [0, 5]):
            assert (row[0], row[-1]) == (tokenizer.start, tokenizer.end)
            assert tokenizer.end not in row[1:-1]
        assert classifier("We saw it. The cat purrs.") == "cat"
        look = classifier.look("We saw it. The cat purrs.")
        assert look.sides["text"].ids == classifier.source.rows(["We saw it. The cat purrs."])[0][0]
        words = [None if i is None else look.sides["text"].words[i] for i in look.sides["text"].word_of]
        assert (words[0], words[-1]) == (None, None)
        assert {"We", "cat"} <= set(words)
        assert answer(regard, "evaluate", run, "--data", folder / "valid.tsv")["accuracy"] > 0.9


def test_the_pooled_vector_that_was_trained_is_taken_where_it_is_asked_for(
    folder: Path, tmp_path: Path, regard: Say
) -> None:
    run = tmp_path / "run"
    assert regard(*classify(folder, run, "bert", "--pool", "first", "--frozen", "--max-steps", "2"))[0] == 0
    before, after = (read_tensors(path / "model.safetensors") for path in (folder / "bert", run))
    assert torch.equal(before["pool.dense.weight"], after["pool.dense.weight"])
    assert json.loads((run / "taken.json").read_text())["pool"] == ["pool.dense.bias", "pool.dense.weight"]


def test_a_preset_beside_a_run_to_begin_from_is_refused(folder: Path, tmp_path: Path, regard: Say) -> None:
    code, _, err = regard(*classify(folder, tmp_path / "run", "bert", "--preset", "han-2016"))
    assert code == 2
    assert "preset han-2016: the model is built around that of" in err
    assert not (tmp_path / "run").exists()


def test_the_head_may_start_from_what_the_vectors_tell(folder: Path, tmp_path: Path, regard: Say) -> None:
    still = ["--max-steps", "1", "--validate-every", "1", "--rate", "1e-9"]
    assert regard(*classify(folder, tmp_path / "plain", "bert", *still))[0] == 0
    code, _, err = regard(*classify(folder, tmp_path / "first", "bert", *still, "--head-first"))
    assert code == 0
    assert "solving for the output layer" in err
    plain, first = (
        json.loads(regard("evaluate", tmp_path / name, "--data", folder / "valid.tsv", "--json")[1])["accuracy"]
        for name in ("plain", "first")
    )
    assert first > max(plain, 0.9)
    weights = [read_tensors(tmp_path / name / "model.safetensors") for name in ("plain", "first")]
    other = {name for name, weight in weights[0].items() if not torch.allclose(weight, weights[1][name], atol=1e-6)}
    assert other == {"output.weight", "output.bias"}


def test_a_head_over_words_cannot_start_first(folder: Path, tmp_path: Path, regard: Say) -> None:
    write_tagged(tmp_path / "t.tsv", 20, 0)
    files = ["--train", tmp_path / "t.tsv", "--valid", tmp_path / "t.tsv", "--run", tmp_path / "run"]
    code, _, err = regard("train", "tag", *files, "--from", folder / "bert", "--head-first", "--max-steps", "1")
    assert code == 2
    assert "head_first: the model gives no label to a whole text" in err


def test_a_text_that_is_too_long_is_cut_and_counted(folder: Path, tmp_path: Path, regard: Say) -> None:
    code, _, err = regard(*classify(folder, tmp_path / "run", "bert", "--max-length", "8"))
    assert code == 0
    assert "training texts have more than 8 tokens" in err
    classifier = library.load(tmp_path / "run")
    rows, cut = classifier.source.rows(["We saw it. The cat purrs. The cat climbs.", "A cat."])
    assert (len(rows[0]), cut) == (8, 1)
    assert rows[0][-1] == classifier.tokenizer.end
    assert classifier.look("We saw it. The cat purrs. The cat climbs.").unread


def test_a_tagger_begins_from_it(folder: Path, tmp_path: Path, regard: Say) -> None:
    for name, count in (("train", 60), ("valid", 10)):
        write_tagged(tmp_path / f"{name}.tsv", count, 0)
    files = ["--train", tmp_path / "train.tsv", "--valid", tmp_path / "valid.tsv"]
    code, _, err = regard("train", "tag", *files, "--from", folder / "bert", "--run", tmp_path / "run", *STEPS)
    assert code == 0, err
    assert isinstance(library.load(tmp_path / "run").model.reader, EncoderModel)


def test_the_lowest_layers_stay_as_they_were_when_frozen_also_when_resumed(
    folder: Path, tmp_path: Path, regard: Say
) -> None:
    run = Run(tmp_path / "run")
    assert regard(*classify(folder, run.path, "bert", "--frozen-layers", "1"))[0] == 0
    before = read_tensors(folder / "bert" / "model.safetensors")

    def same(step: int) -> dict[str, bool]:
        after = read_tensors(run.checkpoint(step) / "model.safetensors")
        taken = {name: after[f"reader.{name}"] for name in before if f"reader.{name}" in after}
        return {name: torch.equal(before[name], tensor) for name, tensor in taken.items()}

    def low(name: str) -> bool:
        return "blocks.1" not in name

    assert all(kept == low(name) for name, kept in same(120).items())
    whole = read_tensors(run.checkpoint(120) / "model.safetensors")
    shutil.rmtree(run.checkpoint(120))
    resume(run)
    again = read_tensors(run.checkpoint(120) / "model.safetensors")
    assert all(torch.equal(again[name], tensor) for name, tensor in whole.items())


def around_a_bert(layers: int = 3) -> ClassifierModel:
    reader = get("bert-tiny", vocabulary=40, width=32, layers=layers, hidden=32).inside()  # type: ignore[attr-defined]
    model = Classifier(reader=reader, pool=FirstToken()).build()
    assert isinstance(model, ClassifierModel)
    return model


@pytest.mark.parametrize("optimiser", [AdamW(rate=0.1), MuonAndAdamW(rate=0.1, matrix_rate=0.1)], ids=["adamw", "muon"])
def test_each_layer_learns_at_a_share_of_the_rate_above_it(optimiser: AdamW | MuonAndAdamW) -> None:
    model = around_a_bert()
    made = optimiser.build(model)
    slow_down(made, model, Initial("run", layer_decay=0.5))  # what is new learns faster, the pool may not be
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = [group for one in made for group in one.param_groups]
    rates = {names[id(parameter)]: group["full_rate"] for group in groups for parameter in group["params"]}
    assert rates.keys() == dict(model.named_parameters()).keys()
    expected = {
        "output.": 1.0,
        "pool.": 0.1,
        "blocks.2": 0.05,
        "blocks.1": 0.025,
        "blocks.0": 0.0125,
        "tokens": 0.00625,
    }
    for part, rate in expected.items():
        found = {value for name, value in rates.items() if part in name}
        assert sorted(found) == pytest.approx([rate]), part
    assert all(one.param_groups[0]["full_rate"] <= 0.1 for one in made)  # told: never that of what learns faster
    assert made[-1].param_groups[0]["full_rate"] == 0.1


def test_adapters_learn_beside_frozen_weights_and_are_merged_also_when_resumed(
    folder: Path, tmp_path: Path, regard: Say
) -> None:
    run = tmp_path / "adapted"
    assert regard(*classify(folder, run, "bert", "--rank", "4"))[0] == 0
    before = read_tensors(Run(folder / "bert").weights_path)
    after = {name.removeprefix("reader."): weight for name, weight in read_tensors(Run(run).weights_path).items()}
    shared = before.keys() & after.keys()
    changed = {name for name in shared if not torch.equal(before[name], after[name])}
    matrices = {name for name in shared if ".blocks." in name and before[name].dim() == 2}
    assert changed == matrices
    for name in changed:
        assert torch.linalg.matrix_rank(after[name] - before[name], rtol=1e-3) <= 4
    assert library.load(run)("We saw it. The cat purrs.") == "cat"

    again = tmp_path / "again"
    shutil.copytree(run, again)
    for path in (again / "checkpoints").iterdir():
        if path.name.endswith("120"):
            shutil.rmtree(path)
    resume(Run(again))
    for name, weight in read_tensors(Run(run).weights_path).items():
        torch.testing.assert_close(read_tensors(Run(again).weights_path)[name], weight)


def test_no_decay_leaves_the_groups_as_they_are() -> None:
    model = around_a_bert()
    made = AdamW().build(model)
    before = [group["params"] for group in made[0].param_groups]
    slow_down(made, model, Initial("run", head_rate=1))
    assert [group["params"] for group in made[0].param_groups] == before


def test_depths_count_from_the_tables() -> None:
    found = depths(around_a_bert().reader)
    assert found["embedding.tokens.weight"] == 0
    assert found["encoder.positions.0.table.weight"] == 0
    assert found["encoder.blocks.2.feedforward.up.weight"] == 3


def test_what_cannot_be_frozen_or_slowed_is_refused(folder: Path, tmp_path: Path, regard: Say) -> None:
    code, _, err = regard(*classify(folder, tmp_path / "run", "bert", "--frozen-layers", "7"))
    assert (code, "the model has 2 layers" in err) == (2, True)
    code, _, err = regard(*classify(folder, tmp_path / "run", "bert", "--layer-decay", "1.5"))
    assert (code, "layer_decay: 1.5 is not allowed" in err) == (2, True)
    with pytest.raises(ConfigError, match="no layers to learn at different rates"):
        depths(Classifier().build().reader)  # type: ignore[arg-type]


def test_a_fresh_model_takes_shape_and_pieces_alone_also_when_resumed(
    folder: Path, tmp_path: Path, regard: Say
) -> None:
    run = Run(tmp_path / "run")
    code, _, err = regard(*classify(folder, run.path, "bert", "--fresh", "--max-steps", "4", "--validate-every", "2"))
    assert code == 0, err
    before, after = (read_tensors(path / "model.safetensors") for path in (folder / "bert", run.path))
    assert load_tokenizer(run) == load_tokenizer(Run(folder / "bert"))
    shared = [name for name, tensor in before.items() if f"reader.{name}" in after and tensor.dim() == 2]
    assert shared
    assert not any(torch.allclose(before[name], after[f"reader.{name}"], atol=1e-2) for name in shared)
    whole = read_tensors(run.checkpoint(4) / "model.safetensors")
    shutil.rmtree(run.checkpoint(4))
    resume(run)
    again = read_tensors(run.checkpoint(4) / "model.safetensors")
    assert all(torch.equal(again[name], tensor) for name, tensor in whole.items())
    code, _, err = regard(*classify(folder, tmp_path / "other", "bert", "--fresh", "--layer-decay", "0.8"))
    assert (code, "no weights to keep" in err) == (2, True)


# --- models that write go on as they are ------------------------------------------------------------------------------


def weights_at_the_start(run: Path) -> dict[str, torch.Tensor]:
    return read_tensors(run / "model.safetensors")


@pytest.fixture(scope="module")
def writer(folder: Path) -> Path:
    where = folder / "writer"
    shape = "--pieces 340 --layers 1 --width 32 --heads 2 --context 24".split()
    words = ["train", "lm", "--train", str(folder / "text.txt"), "--run", str(where), *shape, *QUICK]
    perform(*words, "--max-steps", "30", "--validate-every", "30")
    return where


def test_a_language_model_goes_on_from_one(folder: Path, writer: Path, tmp_path: Path, regard: Say) -> None:
    words = ["train", "lm", "--train", folder / "text.txt", "--from", writer, "--run", tmp_path / "run"]
    code, _, err = regard(*words, "--max-steps", 1, "--validate-every", 1, "--rate", 1e-12, "--warmup", 1)
    assert code == 0, err
    before, after = weights_at_the_start(writer), weights_at_the_start(tmp_path / "run")
    assert before.keys() == after.keys()
    for name, weight in after.items():
        torch.testing.assert_close(weight, before[name], atol=1e-6, rtol=0)
    assert Run(tmp_path / "run").section("task")["context"] == 24
    assert (tmp_path / "run" / "tokenizer.json").read_text() == (writer / "tokenizer.json").read_text()


def test_adapters_of_a_language_model_are_merged(folder: Path, writer: Path, tmp_path: Path, regard: Say) -> None:
    words = ["train", "lm", "--train", folder / "text.txt", "--from", writer, "--run", tmp_path / "run", "--rank", 2]
    assert regard(*words, "--max-steps", 20, "--validate-every", 20, "--rate", 0.01)[0] == 0
    before, after = weights_at_the_start(writer), weights_at_the_start(tmp_path / "run")
    assert before.keys() == after.keys()
    changed = {name for name, weight in after.items() if not weight.equal(before[name])}
    assert changed
    assert all(before[name].dim() == 2 for name in changed)  # only matrices have adapters
    assert regard("generate", tmp_path / "run", "the", "--tokens", 3)[0] == 0


def test_a_translator_goes_on_from_one(toy: Toy, tmp_path: Path, regard: Say) -> None:
    files = ["--train", toy.file("train.tsv"), "--valid", toy.file("test.tsv")]
    words = ["train", "translate", *files, "--from", toy.good, "--run", tmp_path / "run", "--rate", 1e-12]
    code, _, err = regard(*words, "--max-steps", 1, "--validate-every", 1, "--warmup", 1)
    assert code == 0, err
    assert regard("translate", tmp_path / "run", "un deux trois")[1] == "one two three\n"


def test_only_its_own_task_begins_from_a_writer(folder: Path, writer: Path, tmp_path: Path, regard: Say) -> None:
    code, _, err = regard(*classify(folder, tmp_path / "run", "writer"))
    assert (code, err.count("\n")) == (2, 1)
    assert "is no encoder, so only the task that it was trained for can begin from it" in err
