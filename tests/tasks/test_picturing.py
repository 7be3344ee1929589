"""`train classify` takes pictures as it takes texts: the same verbs, the same scores, the same guarantees."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.checkpoint import read_tensors
from regard.config import ConfigError, change
from regard.data.pictures.blending import Blend, blended, draw
from regard.errors import DataError
from regard.runfolder import Run
from regard.tasks.judging.classification import Classification
from regard.tasks.judging.picturing import PictureClassification, PictureClassifier, drawing
from regard.training.session import read_recipe
from tests.conftest import Say, answer
from tests.paintings import COLOURS, MODEL, SIDE, TRAINING, painting, write_paintings
from tests.toy import Toy, perform

pytest.importorskip("PIL")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of pictures, and a run."""
    folder = tmp_path_factory.mktemp("paintings")
    for seed, name in enumerate(("train", "valid", "test")):
        write_paintings(folder / name, 8, 100 * seed)
    perform("train", "classify", "--run", folder / "run", *data(folder), *MODEL, *TRAINING)
    return folder


def data(folder: Path) -> list[object]:
    return ["--train", folder / "train", "--valid", folder / "valid"]


def test_it_learns_and_takes_files_pixels_and_paths(home: Path) -> None:
    classifier = library.load(home / "run")
    assert isinstance(classifier, PictureClassifier)
    assert classifier.labels == tuple(COLOURS)
    assert classifier([painting(colour, 900) for colour in COLOURS]) == list(COLOURS)
    assert classifier(painting("red", 7, 40, 31)) == "red"
    assert classifier(str(home / "test" / "blue" / "0.png")) == "blue"
    assert sum(classifier.scores(home / "test" / "green" / "1.png").values()) == pytest.approx(1, abs=1e-5)


def test_a_picture_alone_is_judged_as_in_a_batch(home: Path) -> None:
    classifier = library.load(home / "run")
    files = sorted((home / "test").glob("*/*.png"))
    together = classifier.verdicts(classifier.given(files))
    alone = np.concatenate([classifier.verdicts(classifier.given([file])) for file in files])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_the_verbs_are_those_of_texts(home: Path, regard: Say) -> None:
    files = [home / "test" / "red" / "0.png", home / "test" / "blue" / "2.png"]
    assert regard("classify", home / "run", *files)[:2] == (0, "red\nblue\n")
    record = answer(regard, "classify", home / "run", files[0])
    assert (record["picture"], record["label"]) == (str(files[0]), "red")
    scores = answer(regard, "evaluate", home / "run", "--data", home / "test")
    assert scores["accuracy"] >= 0.9
    assert "multiply-adds (1 × 64 tokens)" in regard("describe", home / "run")[1]
    code, out, _ = regard("train", "classify", "--run", home / "run", *data(home), *MODEL, *TRAINING, "--resume")
    assert code == 0, out


def test_metrics_and_report_speak_of_pictures(home: Path) -> None:
    lines = (home / "run" / "metrics.jsonl").read_text().splitlines()
    assert any(json.loads(line).get("counted") == "pictures" for line in lines)
    report = (home / "run" / "report.html").read_text()
    assert "pictures a second" in report
    assert "tokens a second" not in report


def test_a_table_of_files_is_taken_as_pictures(home: Path, regard: Say, tmp_path: Path) -> None:
    lines = [f"{path}\t{path.parent.name}" for path in sorted((home / "test").glob("*/*.png"))]
    table = tmp_path / "pictures.tsv"
    table.write_text("picture\tlabel\n" + "\n".join(lines) + "\n")
    assert answer(regard, "evaluate", home / "run", "--data", table)["accuracy"] >= 0.9
    assert Classification.taking({"train": {"file": str(table)}}) is PictureClassification
    assert Classification.taking({"train": {"name": "scenes", "split": "train"}}) is PictureClassification
    assert Classification.taking({"train": {"name": "trec", "split": "train"}}) is Classification
    texts = tmp_path / "texts.tsv"
    texts.write_text("a good day\tgood\na bad day\tbad\n")
    assert Classification.taking({"train": {"file": str(texts)}}) is Classification


@pytest.mark.parametrize("blending", [(), ("--mixup", 0.5, "--cutmix", 1.0)])
def test_a_resumed_training_equals_one_that_was_not_stopped(
    home: Path, tmp_path: Path, blending: tuple[object, ...]
) -> None:
    words = ["train", "classify", *data(home), *MODEL, *TRAINING, *blending, "--flip", 0.5, "--changes", 1]
    words += ["--validate-every", 10, "--processes", 1]
    perform(*words, "--run", tmp_path / "whole", "--max-steps", 20)
    perform(*words, "--run", tmp_path / "cut", "--max-steps", 20)
    cut = Run(tmp_path / "cut")
    shutil.rmtree(cut.checkpoint(20))
    perform("train", "classify", "--run", cut.path, "--resume")
    one, other = (read_tensors(Run(tmp_path / name).checkpoint(20) / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_of_pictures_is_what_another_begins_from(home: Path, tmp_path: Path) -> None:
    words = [
        "train",
        "classify",
        *data(home),
        "--from",
        home / "run",
        "--frozen",
        "--max-steps",
        2,
        "--validate-every",
        2,
    ]
    perform(*words, "--run", tmp_path / "run")
    before, after = (read_tensors(path / "model.safetensors") for path in (home / "run", tmp_path / "run"))
    shared = [name for name in before if name.startswith("reader.")]
    assert shared
    assert all(torch.equal(before[name], after[name]) for name in shared)


def test_convolutions_judge_as_when_they_were_validated(home: Path, tmp_path: Path, regard: Say) -> None:
    """What batch norms have seen goes into the run, and along to what begins from it."""
    sizes = ["--preset", "resnet-18", "--model.reader.backbone.inner", 4, "--task.side", 32, *TRAINING]
    perform("train", "classify", "--run", tmp_path / "run", *data(home), *sizes)
    events = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    best = max(event["metrics"]["accuracy"] for event in events if event["event"] == "validation")
    assert answer(regard, "evaluate", tmp_path / "run", "--data", home / "valid")["accuracy"] == best
    begun = ["--from", tmp_path / "run", "--frozen", "--max-steps", 1, "--validate-every", 1]
    perform("train", "classify", "--run", tmp_path / "next", *data(home), *begun)
    one, other = (read_tensors(tmp_path / name / "model.safetensors") for name in ("run", "next"))
    seen = "reader.backbone.first.norm.running_mean"
    torch.testing.assert_close(other[seen], one[seen], rtol=0.5, atol=0.1)
    assert one[seen].abs().max() > 0.1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "classifier"], "reads no pictures gives them no label"),
        (["--mixup", "0.2", "--agreement", "1"], "two readings of blended pictures have no label to agree on"),
        (["--fit", "squeeze"], "'crop' or 'pad' or 'stretch'"),
    ],
)
def test_what_cannot_be_is_refused(home: Path, regard: Say, tmp_path: Path, words: list[str], message: str) -> None:
    code, _, err = regard("train", "classify", "--run", tmp_path / "run", *data(home), *words)
    assert code == 2
    assert message in err
    assert not (tmp_path / "run").exists()


def test_pictures_that_cannot_be_read_are_named(home: Path, regard: Say, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(home / "train", bad)
    whole = (bad / "red" / "3.png").read_bytes()
    (bad / "red" / "3.png").write_bytes(whole[: len(whole) // 2])
    code, _, err = regard(
        "train", "classify", "--run", tmp_path / "run", "--train", bad, "--valid", home / "valid", *MODEL
    )
    assert code == 2
    assert f"{bad / 'red' / '3.png'} is damaged" in err
    (tmp_path / "valid" / "pink").mkdir(parents=True)
    shutil.copy(home / "valid" / "red" / "0.png", tmp_path / "valid" / "pink")
    code, _, err = regard(
        "train", "classify", "--run", tmp_path / "new", "--train", home / "train", "--valid", tmp_path / "valid"
    )
    assert code == 2
    assert "0.png has the label 'pink', which no training picture has" in err
    assert "no such file does not exist" in regard("classify", home / "run", "no such file")[2]
    with pytest.raises(DataError, match="it takes a file, or pixels"):
        library.load(home / "run")(np.zeros((3, 3)))


def test_texts_and_pictures_are_not_taken_for_each_other(regard: Say, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    texts.write_text("a good day\tgood\na bad day\tbad\n" * 4)
    words = ["--train", texts, "--valid", texts, "--preset", "vit-tiny", "--run", tmp_path / "run"]
    assert "one that reads pictures gives a text no label" in regard("train", "classify", *words)[2]


def test_a_run_of_texts_takes_no_picture_for_one(regard: Say, toy: Toy, home: Path) -> None:
    picture = home / "test" / "red" / "0.png"
    code, out, err = regard("translate", toy.good, picture)
    assert (code, out) == (2, "")
    assert f"{picture} is a picture, and {toy.good} reads texts" in err
    assert regard("translate", toy.good, "red.png")[0] == 0


def test_mixed_pictures_keep_their_share() -> None:
    pictures, order = torch.rand(3, 3, 4, 4), np.array([1, 2, 0])
    mixed = blended(pictures, Blend(order, 0.25))
    torch.testing.assert_close(mixed, 0.25 * pictures + 0.75 * pictures[[1, 2, 0]])
    cut = blended(pictures, Blend(order, 0.75, (0, 2, 2, 4)))
    torch.testing.assert_close(cut[:, :, :2, 2:], pictures[[1, 2, 0]][:, :, :2, 2:])
    torch.testing.assert_close(cut[:, :, 2:], pictures[:, :, 2:])


def test_the_share_of_a_rectangle_is_what_is_left() -> None:
    random = np.random.default_rng(3)
    black_and_white = torch.tensor([0.0, 1.0])[:, None, None, None].expand(2, 3, SIDE, SIDE)
    for _ in range(50):
        blend = draw(2, SIDE, 0.0, 1.0, lambda: random)
        assert blend is not None
        found = blended(black_and_white, Blend(np.array([1, 0]), 0, blend.rectangle))
        assert blend.share == pytest.approx(1 - float(found[0].mean()))
    assert draw(4, SIDE, 0.0, 0.0, lambda: random) is None


def test_what_is_right_of_blended_pictures_is_of_both(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "run", tmp_path / "run")
    recipe = read_recipe(Run(home / "run"))
    task = change(recipe.task, {"mixup": 1.0, "augment": None}).open(tmp_path / "run", lambda text: None)
    model = recipe.model.build().eval()
    indices = np.arange(6)
    torch.manual_seed(5)
    found, count = task.loss(model, indices)
    torch.manual_seed(5)
    blend = draw(6, SIDE, 1.0, 0.0, drawing)
    assert blend is not None
    (pictures,) = task.source.batch(task.rows(indices), model)
    logs = model(blended(pictures, blend)).log_softmax(-1)
    own = torch.tensor([int(task.marks[i][0]) for i in indices])
    shares = torch.nn.functional.one_hot(own, 3) * blend.share
    shares = shares + torch.nn.functional.one_hot(own[blend.order], 3) * (1 - blend.share)
    torch.testing.assert_close(found / count, -(shares * logs).sum(-1).mean())


def test_a_model_of_another_size_is_fitted_to_the_pictures(home: Path) -> None:
    assert library.load(home / "run").model.config.reader.side == SIDE
    with pytest.raises(ConfigError, match="side"):
        change(PictureClassification(), {"side": 0})
