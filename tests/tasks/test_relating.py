"""Vectors that are near where texts are alike: learnt from scores and from pairs, used, scored, resumed, exported."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.checkpoint import read_tensors
from regard.data.related import Related
from regard.models import EncoderModel
from regard.runfolder import Run
from regard.tasks.vectors.embedding import Embedder, load_embedder
from regard.tasks.vectors.nearness import match_loss, nearness, order_loss, right_ones, standing
from regard.training.session import resume
from tests.conftest import Say, answer
from tests.documents import DOES, QUICK, TINY, write_texts
from tests.helpers import newest_samples
from tests.toy import losses, perform

MODEL = "--width 32 --layers 1 --heads 2 --hidden 64 --dropout 0 --weight-dropout 0 --pieces 80".split()
STEPS = "--rate 0.005 --warmup 5 --max-steps 60 --validate-every 20 --keep-checkpoints 9 --batch-texts 16".split()
ANIMALS = sorted(DOES)


def sentence(draw: random.Random, animal: str) -> str:
    return f"The {draw.choice(['old', 'young', 'small', 'wild'])} {animal} {draw.choice(DOES[animal])}."


def write_scored(path: Path, count: int, seed: int) -> Path:
    """Sentences on one animal have 5, on two 1."""
    draw, lines = random.Random(seed), []
    for _ in range(count):
        one = draw.choice(ANIMALS)
        other = draw.choice([one, draw.choice(ANIMALS)])
        lines.append(f"{sentence(draw, one)}\t{sentence(draw, other)}\t{5 if one == other else 1}\n")
    path.write_text("".join(lines))
    return path


def write_together(path: Path, count: int, seed: int) -> Path:
    """What an animal does belongs to its name; every third pair has a negative."""
    draw, lines = random.Random(seed), []
    for i in range(count):
        animal, other = draw.sample(ANIMALS, 2)
        verb = draw.choice(DOES[animal])
        negative = f"\tit {draw.choice(DOES[other])}" if i % 3 == 0 else ""
        lines.append(f"the {animal} that {verb}\tit {verb}{negative}\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of both kinds, a run of each from nothing, and a pre-trained encoder."""
    folder = tmp_path_factory.mktemp("near")
    for name, write in (("scored", write_scored), ("together", write_together)):
        for part, count in (("train", 120), ("valid", 30)):
            write(folder / f"{name}.{part}.tsv", count, count)
        perform(*command(folder, name, folder / name), *MODEL)
    perform(*command(folder, "scored", folder / "ordered"), *MODEL, "--objective", "order")
    write_texts(folder / "text.txt", 100, 0)
    words = ["pretrain", "mlm", "--train", str(folder / "text.txt"), "--run", str(folder / "bert"), *TINY, *QUICK]
    perform(*words, "--max-steps", "20", "--validate-every", "20")
    return folder


@pytest.mark.parametrize("name", ["scored", "together"])
def test_a_sample_has_both_texts_by_themselves_for_the_boxes_of_the_studio(home: Path, name: str) -> None:
    known = [line.split("\t")[:2] for line in (home / f"{name}.valid.tsv").read_text().splitlines()]
    samples = newest_samples(home / name)
    assert samples
    assert all([sample["first"], sample["second"]] in known for sample in samples)


def command(home: Path, data: str, run: Path, *more: str) -> list[str]:
    files = [f"--{part}={home / f'{data}.{part}.tsv'}" for part in ("train", "valid")]
    return ["train", "similar", *files, "--run", str(run), *STEPS, *more]


@pytest.mark.parametrize("run", ["scored", "ordered"])
def test_texts_with_high_scores_come_near(home: Path, regard: Say, run: str) -> None:
    embedder = library.load(home / run)
    assert isinstance(embedder, Embedder)
    one, alike, other = embedder(["The old cat purrs.", "The small cat climbs.", "The old dog digs."])
    assert one @ alike > one @ other + 0.3
    result = answer(regard, "evaluate", home / run, "--data", home / "scored.valid.tsv")
    assert result["spearman"] > 0.8
    assert result["intervals"]["pearson"][0] <= result["pearson"] <= result["intervals"]["pearson"][1]
    out = regard("evaluate", home / "scored", "--data", home / "scored.valid.tsv")[1]
    assert "Spearman" in out
    assert "95% of such test sets" in out


def test_texts_that_belong_together_find_each_other(home: Path, regard: Say, tmp_path: Path) -> None:
    result = answer(regard, "evaluate", home / "together", "--data", home / "together.valid.tsv")
    assert result["pairs"] == 30
    assert result["mrr"] > 0.9
    assert result["recall_at_1"] > 0.8
    (tmp_path / "lines.txt").write_text("".join(f"it {verb}\n" for verbs in DOES.values() for verb in verbs))
    words = ("similar", home / "together", "--lines", tmp_path / "lines.txt", "--count", 1, "the fish that dives")
    assert regard(*words)[1].endswith("it dives\n")


def test_the_report_shows_what_stands_furthest_from_its_place(home: Path) -> None:
    assert "furthest from their place" in (home / "scored" / "report.html").read_text()
    assert "furthest from their own" in (home / "together" / "report.html").read_text()


def test_the_run_is_an_encoder_that_says_how_its_vectors_are_made(home: Path, regard: Say) -> None:
    about = Run(home / "scored").read_config()
    assert about["embedding"] == {"pool": "mean", "longest": 128, "normalised": True}
    assert about["model"]["kind"] == "encoder"
    assert about["model"]["head"] is None
    out = regard("embed", home / "scored", "The old cat purrs.")[1]
    expected = library.load(home / "scored")(["The old cat purrs."])[0]
    np.testing.assert_allclose(json.loads(out)["vector"], expected, rtol=1e-5)
    assert regard("look", home / "scored", "The old cat purrs.", "--json")[0] == 0
    assert regard("describe", home / "scored")[0] == 0


def test_it_begins_from_an_encoder_and_goes_on_to_the_same_losses(home: Path, tmp_path: Path, regard: Say) -> None:
    runs = [Run(tmp_path / name) for name in ("whole", "cut")]
    for run in runs:
        begin = ["--from", str(home / "bert"), "--pooling", "cls", "--max-steps", "12", "--validate-every", "4"]
        code, _, err = regard(*command(home, "together", run.path, *begin))
        assert code == 0, err
    before, after = (read_tensors(run.weights_path) for run in (Run(home / "bert"), runs[0]))
    assert after.keys() < before.keys()  # no head and no pool
    for step in (8, 12):
        shutil.rmtree(runs[1].checkpoint(step))
    config = json.loads(runs[1].config_path.read_text())
    del config["embedding"]  # as when it was interrupted
    runs[1].config_path.write_text(json.dumps(config))
    assert load_embedder(runs[1].path).pool == "cls"
    resume(runs[1])
    assert losses(runs[0]) == losses(runs[1])


def test_pooling_and_length_are_those_of_the_run_it_begins_from(home: Path, tmp_path: Path, regard: Say) -> None:
    source = tmp_path / "source"
    shutil.copytree(home / "bert", source)
    config = json.loads((source / "config.json").read_text())
    config["embedding"] = {"pool": "cls", "longest": 24, "normalised": True}
    (source / "config.json").write_text(json.dumps(config))
    assert regard(*command(home, "scored", tmp_path / "run", "--from", str(source), "--max-steps", "1"))[0] == 0
    embedder = load_embedder(tmp_path / "run")
    assert (embedder.pool, embedder.longest) == ("cls", 24)


def test_adapters_layers_and_seeds_serve_it_too(home: Path, tmp_path: Path, regard: Say) -> None:
    begin = ["--from", str(home / "bert"), "--max-steps", "4", "--validate-every", "2"]
    assert regard(*command(home, "scored", tmp_path / "rank", *begin, "--rank", "2"))[0] == 0
    before, after = (read_tensors(path / "model.safetensors") for path in (home / "bert", tmp_path / "rank"))
    assert {name for name in after if not torch.equal(before[name], after[name])} == {
        name for name in after if ".blocks." in name and after[name].dim() == 2
    }
    more = ["--frozen-layers", "1", "--layer-decay", "0.5", "--seeds", "2"]
    code, out, _ = regard(*command(home, "together", tmp_path / "seeds", *begin, *more))
    assert code == 0
    assert "mrr" in out
    assert "spearman" not in out
    code, _, err = regard(*command(home, "scored", tmp_path / "frozen", *begin, "--frozen"))
    assert (code, "nothing of it would learn" in err) == (2, True)


def test_pairs_may_be_validated_by_scores(home: Path, tmp_path: Path, regard: Say) -> None:
    files = ["--train", home / "together.train.tsv", "--valid", home / "scored.valid.tsv"]
    code, out, _ = regard("train", "similar", *files, "--run", tmp_path / "run", *MODEL, *STEPS, "--max-steps", 2)
    assert code == 0
    assert "spearman" in out


def test_it_is_exported_with_its_pooling_and_imported_again(home: Path, tmp_path: Path, regard: Say) -> None:
    code, _, err = regard("export", home / "scored", "--to", "huggingface", tmp_path / "out")
    assert code == 0, err
    modules = json.loads((tmp_path / "out" / "modules.json").read_text())
    assert [module["type"].rpartition(".")[2] for module in modules] == ["Transformer", "Pooling", "Normalize"]
    assert regard("import", tmp_path / "out", "--run", tmp_path / "again")[0] == 0
    texts = ["The old cat purrs.", "A dog."]
    np.testing.assert_allclose(
        load_embedder(tmp_path / "again")(texts), library.load(home / "scored")(texts), atol=1e-5
    )
    result = json.loads(regard("evaluate", tmp_path / "again", "--data", home / "scored.valid.tsv", "--json")[1])
    assert result["spearman"] > 0.8
    files = ["--train", home / "scored.train.tsv", "--valid", home / "scored.valid.tsv"]
    words = ("train", "similar", *files, "--from", tmp_path / "again", "--run", tmp_path / "tuned", "--max-steps", 2)
    assert regard(*words)[0] == 0


@pytest.mark.parametrize(
    ("train", "valid", "more", "message"),
    [
        (
            "a\tb\t1\na\tc\t1\n",
            "a\tb\t1\na\tb\t2\n",
            [],
            "all training pairs have the score 1: there is nothing to learn",
        ),
        (
            "a\tb\t1\na\tc\t2\n",
            "a\tb\t1\na\tc\t1\n",
            [],
            "all validation pairs have the score 1: there is nothing to rank",
        ),
        ("a\tb\n", "a\tb\n", [], "there is one training pair"),
        ("a\tb\n", "", [], "no pair of texts (nothing in it)"),
        ("a\tb\nc\td\n", "a\tb\n", ["--max-length", "2"], "max_length 2 holds no text"),
        ("a\tb\nc\td\n", "a\tb\n", ["--max-length", "600"], "the model reads at most 512 tokens"),
        ("a\tb\nc\td\n", "a\tb\n", ["--preset", "classifier"], "one of kind classifier makes no vectors of texts"),
        ("a\tb\nc\td\n", "a\tb\n", ["--metric", "spearman"], "these examples give no 'spearman'"),
        ("a\tb\nc\td\n", "a\tb\n", ["--columns", "1,2,3,4"], "name the two texts'"),
    ],
)
def test_what_cannot_be_learnt_is_refused(
    tmp_path: Path, regard: Say, train: str, valid: str, more: list[str], message: str
) -> None:
    for name, text in (("train", train), ("valid", valid)):
        (tmp_path / f"{name}.tsv").write_text(text)
    files = ["--train", tmp_path / "train.tsv", "--valid", tmp_path / "valid.tsv"]
    code, _, err = regard("train", "similar", *files, "--run", tmp_path / "run", *more)
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "run").exists()


def test_long_texts_are_cut_and_counted(home: Path, tmp_path: Path, regard: Say) -> None:
    more = [*MODEL, "--max-steps", "1", "--max-length", "5"]
    code, _, err = regard(*command(home, "together", tmp_path / "run", *more))
    assert code == 0
    assert "texts of 120 training pairs have more than 5 tokens and are cut" in err
    assert load_embedder(tmp_path / "run").longest == 5


# --- losses and places ------------------------------------------------------------------------------------------------


def test_the_loss_of_an_order_is_what_stands_in_the_wrong_one() -> None:
    near, scores = torch.tensor([0.5, 0.1, 0.3]), torch.tensor([1, 2, 2])
    expected = math.log(1 + math.exp((0.5 - 0.1) / 0.1) + math.exp((0.5 - 0.3) / 0.1))
    assert float(order_loss(near, scores, 0.1)) == pytest.approx(expected)
    assert float(order_loss(near, torch.ones(3), 0.1)) == 0
    assert float(order_loss(near[:1], scores[:1], 0.1)) == 0


def test_the_loss_of_a_match_is_that_of_a_choice_both_ways() -> None:
    firsts, others = torch.eye(3)[:2], torch.eye(3)
    right = right_ones(["a", "b"], ["x", "y", "z"])
    assert right.tolist() == [[True, False, False], [False, True, False]]
    there, back = -math.log(math.e / (math.e + 2)), -math.log(math.e / (math.e + 1))
    assert float(match_loss(firsts, others, right, 1.0)) == pytest.approx((there + back) / 2)


def test_equal_texts_of_a_batch_do_not_count_against_each_other() -> None:
    right = right_ones(["a", "b", "a"], ["x", "y", "z", "y"])
    assert right.tolist() == [[True, False, True, False], [False, True, False, True], [True, False, True, False]]
    vectors = torch.nn.functional.normalize(torch.randn(4, 8), dim=-1)
    assert torch.isfinite(match_loss(vectors[:3], vectors, right, 0.1))
    assert float(match_loss(vectors[1:2], vectors[[1, 3]], right_ones(["b"], ["y", "y"]), 0.1)) == 0
    assert float(match_loss(vectors[1:2], vectors[[1, 3]], right_ones(["b"], ["y", "z"]), 0.1)) > 0


def test_places_are_counted_among_what_does_not_belong() -> None:
    angles = np.array([0.0, 0.1, 0.2, 0.3, 3.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    firsts, seconds = np.array([0, 0, 0]), np.array([1, 3, 4])
    places, nearest = standing(vectors, firsts, seconds, np.array([1, 2, 3, 4]))
    assert places.tolist() == [1, 2, 2]  # 2 stands before 3 and 4; 1, 3 and 4 belong to the text
    assert nearest.tolist() == [1, 1, 1]
    same = np.ones((3, 2), dtype=np.float32)
    assert standing(same, np.array([0]), np.array([1]), np.array([1, 2]))[0].tolist() == [2]  # of equal ones the last


def test_every_text_is_read_once(home: Path) -> None:
    embedder, read = library.load(home / "together"), []
    assert isinstance(embedder.model, EncoderModel)
    pairs = [Related("the cat that purrs", "it purrs", negative="it digs"), Related("the cat that purrs", "it digs")]
    found = nearness(embedder, pairs, done=read.append)
    assert sum(read) == 3
    assert found.places is not None
    assert found.places.tolist() == [1, 1]  # both belong to the one text
    assert found.figures() == {"mrr": 1.0, "recall_at_1": 1.0}
