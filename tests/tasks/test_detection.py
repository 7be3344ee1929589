"""Detectors with the same commands: trained on scenes and on one's own files, resumed, used, scored, drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard as library
from regard.data.catalogue import open_data
from regard.errors import Error
from regard.runfolder import Run
from regard.tasks.detection.detector import PictureDetector
from regard.tasks.detection.task import Detection
from tests.conftest import Say, answer
from tests.toy import losses, perform

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("scipy")

SMALL = ["--side", "32", "--width", "32", "--inner", "8", "--heads", "2", "--hidden", "32", "--layers", "1"]
SMALL += ["--model.queries.count", "6", "--batch-tokens", "8", "--precision", "fp32", "--processes", "1"]
SHORT = ["--max-steps", "8", "--validate-every", "4", "--keep-checkpoints", "9"]


def write_boxes(folder: Path, count: int, split: str) -> Path:
    """Scenes as files, half as high as they were, with a table of boxes beside them."""
    (folder / "images").mkdir(exist_ok=True)
    lines = ["image\tclass\tx0\ty0\tx1\ty1"]
    for number, one in enumerate(open_data("scenes", "32", split, count, "boxes")):
        picture = Image.fromarray(one.picture.pixels()).resize((64, 32))
        picture.save(folder / "images" / f"{split}-{number}.png")
        for name, (left, top, right, bottom) in one.boxes:
            lines.append(f"{split}-{number}.png\t{name}\t{2 * left:.2f}\t{top:.2f}\t{2 * right:.2f}\t{bottom:.2f}")
    path = folder / f"{split}.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, and a run that learnt a little of them."""
    folder = tmp_path_factory.mktemp("boxed")
    data = ["--train", write_boxes(folder, 24, "train"), "--valid", write_boxes(folder, 10, "valid")]
    perform("train", "detect", *data, "--run", folder / "run", *SMALL, *SHORT)
    return folder


def test_a_run_is_scored_as_it_was_validated(regard: Say, folder: Path) -> None:
    metrics = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    best = [one["metrics"] for one in metrics if one["event"] == "validation"]
    scores = answer(regard, "evaluate", folder / "run", "--data", folder / "valid.tsv")
    assert any(all(scores[name] == pytest.approx(one[name], rel=1e-3, abs=1e-4) for name in one) for one in best)
    assert scores["pictures"] == 10
    assert set(scores["classes"]) <= set(library.load(folder / "run").names)
    assert (folder / "run" / "report.html").read_text().count("Average precision")


def test_things_are_told_in_pixels_of_the_picture_as_it_came(regard: Say, folder: Path, tmp_path: Path) -> None:
    picture = folder / "images" / "valid-0.png"
    words = ("detect", folder / "run", picture, "--threshold", "0.0", "--out", tmp_path / "boxes.json")
    (line,) = [json.loads(text) for text in regard(*words, "--json", "--png", tmp_path / "seen.png")[1].splitlines()]
    assert (line["picture"], line["width"], line["height"]) == (str(picture), 64, 32)
    assert len(line["things"]) == 6  # one for each query
    for thing in line["things"]:
        left, top, right, bottom = thing["box"]
        assert 0 <= left <= right <= 64
        assert 0 <= top <= bottom <= 32
    chances = [thing["score"] for thing in line["things"]]
    assert chances == sorted(chances, reverse=True)
    assert json.loads((tmp_path / "boxes.json").read_text()) == [line]
    seen = Image.open(tmp_path / "seen.png")
    assert seen.size == (64, 32)
    assert np.asarray(seen.convert("RGB")).tolist() != np.asarray(Image.open(picture).convert("RGB")).tolist()
    code, out, _ = regard("detect", folder / "run", picture, "--threshold", "1")
    assert (code, out) == (0, f"{picture}\n")


def test_python_takes_files_and_pixels_and_gives_things(folder: Path) -> None:
    detector = library.load(folder / "run")
    assert isinstance(detector, PictureDetector)
    picture = folder / "images" / "valid-1.png"
    things = detector(picture, threshold=0)
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    assert [thing.box for thing in detector(pixels, threshold=0)] == [thing.box for thing in things]
    together = detector.results([picture, folder / "images" / "valid-2.png"], batch=2, threshold=0)
    alone = [thing.score for thing in things]
    assert [thing.score for thing in together[0].things] == pytest.approx(alone, abs=1e-5)
    with library.watch(detector.model, "decoder.0.cross") as seen:
        detector(picture)
    assert seen.last("decoder.0.cross").shape == (1, 2, 6, detector.model.states)


def test_a_resumed_run_goes_on_as_if_nothing_had_happened(regard: Say, folder: Path, tmp_path: Path) -> None:
    data = ["--train", folder / "train.tsv", "--valid", folder / "valid.tsv"]
    words = ["train", "detect", *data, "--run", tmp_path / "run", *SMALL, *SHORT, "--schedule", "constant"]
    assert regard(*words, "--max-steps", "4")[0] == 0
    assert regard("train", "detect", "--run", tmp_path / "run", "--resume", "--max-steps", "8")[0] == 0
    whole = ["train", "detect", *data, "--run", tmp_path / "whole", *SMALL, *SHORT, "--schedule", "constant"]
    assert regard(*whole)[0] == 0
    assert losses(Run(tmp_path / "run"))[-1] == losses(Run(tmp_path / "whole"))[-1]


def test_statistics_of_norms_come_back_with_the_weights(folder: Path) -> None:
    from regard.checkpoint import read_tensors

    weights = read_tensors(folder / "run" / "model.safetensors")
    (name,) = [name for name in weights if name.endswith("first.norm.running_mean")]
    model = library.load(folder / "run").model
    assert weights[name].abs().sum() > 0
    assert model.state_dict()[name].tolist() == weights[name].tolist()


# --- bad input --------------------------------------------------------------------------------------------------------


def trained(regard: Say, folder: Path, run: Path, **files: Path) -> str:
    paths = {"train": folder / "train.tsv", "valid": folder / "valid.tsv", **files}
    data = [word for name, path in paths.items() for word in (f"--{name}", path)]
    code, out, err = regard("train", "detect", *data, "--run", run, *SMALL, *SHORT)
    assert (code, out) == (2, "")
    return err.splitlines()[-1]


def other(folder: Path, name: str, line: str) -> Path:
    """A table with one more line."""
    path = folder / name
    path.write_text((folder / "valid.tsv").read_text() + line + "\n")
    return path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("valid-0.png\tstar\t60\t0\t70\t9", r"line \d+: the box of 'star' .* lies outside of .*valid-0.png"),
        ("valid-0.png\tstar\t9\t0\t9\t9", r"line \d+: the box from .* is empty"),
        ("valid-0.png\tstar\t9\t0\t3\t9", r"line \d+: the box from .* upside down"),
        ("gone.png\tstar\t0\t0\t3\t9", r"line \d+: the picture gone.png is neither in"),
        ("broken.png\tstar\t0\t0\t3\t9", r"broken.png is no picture that can be read"),
    ],
)
def test_a_wrong_line_is_named_in_training_and_in_scoring(
    regard: Say, folder: Path, tmp_path: Path, line: str, said: str
) -> None:
    (folder / "images" / "broken.png").write_text("no picture")
    wrong = other(folder, "wrong.tsv", line)
    assert re.search(said, trained(regard, folder, tmp_path / "run", train=wrong))
    code, _, err = regard("evaluate", folder / "run", "--data", wrong)
    assert code == 2
    assert re.search(said, err)


def test_a_class_that_training_never_had_is_named(regard: Say, folder: Path, tmp_path: Path) -> None:
    wrong = other(folder, "unknown.tsv", "valid-0.png\thexagon\t0\t0\t3\t9")
    said = r"unknown.tsv, line \d+: a validation picture has the class 'hexagon', which no training picture has"
    assert re.search(said, trained(regard, folder, tmp_path / "run", valid=wrong))
    code, _, err = regard("evaluate", folder / "run", "--data", wrong)
    assert code == 2
    assert re.search("a test picture has the class 'hexagon'", err)


def test_what_does_not_go_together_is_said(regard: Say, folder: Path, tmp_path: Path) -> None:
    picture = folder / "images" / "valid-0.png"
    for words, said in (
        ((picture, "--threshold", "2"), "threshold 2.0: it takes a chance from 0 to 1"),
        ((picture, picture, "--png", "a.png"), "--png draws on one picture, 2 were given"),
        ((tmp_path / "gone.png",), "gone.png does not exist"),
        ((folder / "train.tsv",), "train.tsv is no picture that can be read"),
        ((picture, "--thresold", "2"), "unknown option --thresold"),
    ):
        code, out, err = regard("detect", folder / "run", *words)
        assert (code, out) == (2, "")
        assert said in err
    code, _, err = regard("classify", folder / "run", "a text")
    assert code == 2
    assert "was trained for the task 'detect', not to classify" in err
    words = ("train", "detect", "--data", "scenes", "--run", tmp_path / "run", "--preset", "bert-tiny")
    code, _, err = regard(*words)
    assert code == 2
    assert "finds no boxes; take a preset of one that does" in err
    with pytest.raises(Error, match=r"augment.changes: some of them turn and shear"):
        library.train("detect", tmp_path / "run", train="scenes", valid="scenes", changes=2)


def test_pictures_without_boxes_and_of_any_shape_can_be_learnt_from(tmp_path: Path) -> None:
    every: list[Any] = list(open_data("scenes", "32", "train", 3, "boxes"))
    images = [{"id": number, "file_name": f"{number}.png"} for number in range(4)]
    names = sorted({name for one in every for name, _ in one.boxes})
    boxes = [
        {
            "image_id": number,
            "category_id": names.index(name),
            "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
        }
        for number, one in enumerate(every[:2])
        for name, box in one.boxes
    ]
    boxes += [{"image_id": 3, "category_id": 0, "bbox": [0, 10 * row, 7, 9]} for row in range(9)]
    for number, one in enumerate(every[:2]):  # the third has none
        Image.fromarray(one.picture.pixels()).save(tmp_path / f"{number}.png")
    Image.new("RGB", (32, 32)).save(tmp_path / "2.png")
    Image.new("RGB", (7, 90)).save(tmp_path / "3.png")
    path = tmp_path / "boxes.json"
    categories = [{"id": number, "name": name} for number, name in enumerate(names)]
    path.write_text(json.dumps({"images": images, "annotations": boxes, "categories": categories}))
    perform("train", "detect", "--train", path, "--valid", path, "--run", tmp_path / "run", *SMALL, "--max-steps", "2")
    assert library.evaluate(tmp_path / "run", path).record()["pictures"] == 4
    assert library.load(tmp_path / "run").model.config.queries.count == 9  # as many as the fullest picture has


def test_the_usual_preset_can_learn_the_task() -> None:
    Detection().check_model(library.zoo.get(Detection.preset))
