"""Readers of pictures from elsewhere give the same outputs here, and there again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")

import regard as library  # noqa: E402
from regard.checkpoint import load_whole  # noqa: E402
from regard.config import ConfigError  # noqa: E402
from regard.errors import DataError  # noqa: E402
from regard.interop import export_huggingface, import_source  # noqa: E402
from regard.runfolder import Run, read_labels  # noqa: E402
from regard.tasks.judging.picturing import PictureClassifier  # noqa: E402
from tests.conftest import Say  # noqa: E402
from tests.interop import foreign  # noqa: E402
from tests.interop.test_exporting import assert_equal, assert_same_model, opened  # noqa: E402
from tests.paintings import write_paintings  # noqa: E402

NAMES = {0: "cat", 1: "ape", 2: "bee"}
CLASSES: dict[str, Callable[[Path], Any]] = {
    "vit": foreign.vit,
    "vit, all fields": lambda folder: foreign.vit(folder, hidden_act="relu", layer_norm_eps=1e-3, patch_size=4),
    "deit": foreign.deit,
    "deit, two heads": lambda folder: foreign.deit(folder, "DeiTForImageClassificationWithTeacher"),
    "dinov2": foreign.dinov2,
    "dinov2, gated": lambda folder: foreign.dinov2(folder, use_swiglu_ffn=True, image_size=[24, 24]),
    "resnet": foreign.resnet,
    "resnet, bottleneck": lambda folder: foreign.resnet(folder, layer_type="bottleneck", hidden_sizes=[32, 64]),
}
BODIES: dict[str, Callable[[Path], Any]] = {
    "vit": lambda folder: foreign.vit(folder, "ViTModel"),
    "deit": lambda folder: foreign.deit(folder, "DeiTModel"),
    "dinov2": lambda folder: foreign.dinov2(folder, "Dinov2Model"),
    "resnet": lambda folder: foreign.resnet(folder, "ResNetModel"),
}


def pictures(side: int) -> torch.Tensor:
    return torch.randn(2, 3, side, side + 16)


def seen(model: Any, given: torch.Tensor) -> Any:
    wanted = {"interpolate_pos_encoding": True} if model.config.model_type in ("vit", "deit") else {}
    with torch.no_grad():
        return model(given, **wanted)


@pytest.mark.parametrize("make", CLASSES.values(), ids=CLASSES)
def test_pictures_get_the_same_scores_there_and_back(
    make: Callable[[Path], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At the size that it is made for and at another one, which takes positions between those that were learnt."""
    theirs, said = make(tmp_path / "in"), []
    change_config(tmp_path / "in", id2label=NAMES, label2id={name: number for number, name in NAMES.items()})
    import_source(tmp_path / "in", tmp_path / "run", said.append)
    assert said == []
    ours, tokenizer = load_whole(Run(tmp_path / "run"))
    assert tokenizer is None
    export_huggingface(tmp_path / "run", tmp_path / "out")
    again = opened(tmp_path / "out", caplog)
    assert type(again) is type(theirs)
    assert again.config.id2label == NAMES
    for side in (32, 48):
        given = pictures(side)
        expected = seen(theirs, given).logits
        assert_equal(ours.eval()(given), expected)
        assert_equal(seen(again, given).logits, expected)
    import_source(tmp_path / "out", tmp_path / "again")
    assert_same_model(tmp_path / "run", tmp_path / "again")
    assert isinstance(library.load(tmp_path / "run"), PictureClassifier)
    assert read_labels(tmp_path / "run") == tuple(NAMES.values())


@pytest.mark.parametrize("make", BODIES.values(), ids=BODIES)
def test_states_are_the_same_there_and_back(
    make: Callable[[Path], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    ours, _ = load_whole(Run(tmp_path / "run"))
    assert "task" not in Run(tmp_path / "run").read_config()
    export_huggingface(tmp_path / "run", tmp_path / "out")
    again = opened(tmp_path / "out", caplog)
    assert type(again) is type(theirs)
    given = pictures(40)
    expected = seen(theirs, given).last_hidden_state
    found = ours.eval()(given)
    assert_equal(found, expected.flatten(2).transpose(1, 2) if expected.dim() == 4 else expected)
    assert_equal(seen(again, given).last_hidden_state, expected)


def change_config(folder: Path, **about: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **about}))


# --- how pictures reach it --------------------------------------------------------------------------------------------


def preprocess(folder: Path, **about: Any) -> None:
    (folder / "preprocessor_config.json").write_text(json.dumps(about))


HALF, IMAGENET = (
    {"image_mean": [0.5] * 3, "image_std": [0.5] * 3},
    {
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
    },
)


@pytest.mark.parametrize(
    ("about", "side", "fit", "pixels"),
    [
        (None, 32, "stretch", "half"),
        ({"size": {"height": 48, "width": 48}, **HALF}, 48, "stretch", "half"),
        ({"size": 24, **IMAGENET}, 24, "stretch", "imagenet"),
        ({"size": {"shortest_edge": 56}, "do_center_crop": True, "crop_size": 40, **IMAGENET}, 40, "crop", "imagenet"),
        ({"size": {"shortest_edge": 40}, "crop_pct": 0.875}, 40, "crop", "half"),
    ],
)
def test_a_preprocessor_says_how_pictures_are_seen(
    about: dict[str, Any] | None, side: int, fit: str, pixels: str, tmp_path: Path
) -> None:
    foreign.vit(tmp_path / "in")
    if about is not None:
        preprocess(tmp_path / "in", **about)
    import_source(tmp_path / "in", tmp_path / "run")
    classifier = library.load(tmp_path / "run")
    reader = classifier.model.reader.config
    assert (classifier.source.side, classifier.source.fit, reader.side, reader.pixels) == (side, fit, side, pixels)
    assert reader.encoder.position.rows == 4  # as it was learnt


def test_a_picture_is_classified_as_there(tmp_path: Path) -> None:
    """From its file on, through what is written for their preprocessing."""
    image = pytest.importorskip("PIL.Image")
    theirs = foreign.vit(tmp_path / "in")
    write_paintings(tmp_path / "some", 1)
    picture = tmp_path / "some" / "red" / "0.png"
    import_source(tmp_path / "in", tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    processor = transformers.AutoImageProcessor.from_pretrained(tmp_path / "out")
    expected = theirs(**processor(image.open(picture), return_tensors="pt")).logits.softmax(-1)[0]
    scores = library.load(tmp_path / "run").scores(picture)
    assert [scores[name] for name in theirs.config.id2label.values()] == pytest.approx(expected.tolist(), abs=1e-5)


# --- what was trained here --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "pool"),
    [
        ("vit", ["first", "--model.pool.dense", "false"]),
        ("deit", ["first", "--model.pool.dense", "false"]),
        ("dinov2", ["side-by-side"]),
        ("resnet", ["mean"]),
    ],
)
def test_verbs_begin_from_it_and_give_it_back(
    body: str, pool: list[str], tmp_path: Path, regard: Say, caplog: pytest.LogCaptureFixture
) -> None:
    """A body from there is tuned on pictures here, and what comes of it is opened there."""
    class_of_it = type(BODIES[body](tmp_path / "in")).__name__.replace("Model", "ForImageClassification")
    code, _, err = regard("import", tmp_path / "in", "--run", tmp_path / "body")
    assert code == 0
    assert ("pooler.dense.bias" in err) == (body in ("vit", "deit"))
    assert err.splitlines()[-1].endswith("parameters")
    write_paintings(tmp_path / "some", 4)
    files = ("--train", tmp_path / "some", "--valid", tmp_path / "some")
    tuning = ("--from", tmp_path / "body", "--pool", *pool, "--max-steps", 2, "--task.side", 32)
    code, _, err = regard("train", "classify", *files, *tuning, "--run", tmp_path / "run")
    assert code == 0, err
    code, out, _ = regard("classify", tmp_path / "run", tmp_path / "some" / "red" / "0.png")
    assert (code, out.strip() in ("blue", "green", "red")) == (0, True)
    code, _, err = regard("export", tmp_path / "run", "--to", "huggingface", tmp_path / "out")
    assert (code, err) == (0, f"transformers opens it as {class_of_it}\n")
    again = opened(tmp_path / "out", caplog)
    assert again.config.id2label == {0: "blue", 1: "green", 2: "red"}
    ours, given = load_whole(Run(tmp_path / "run"))[0].eval(), torch.randn(2, 3, 32, 32)
    assert_equal(ours(given), seen(again, given).logits)


def test_what_has_no_counterpart_is_named(tmp_path: Path) -> None:
    foreign.vit(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    about = json.loads(path.read_text())
    about["model"]["pool"] = {"kind": "mean"}
    path.write_text(json.dumps(about))
    with pytest.raises(ConfigError, match="the model's pool mean has no counterpart in vit"):
        export_huggingface(tmp_path / "run", tmp_path / "out")


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (foreign.vit, {"model_type": "vitt"}, "a model of type 'vitt' is not known here: did you mean 'vit'"),
        (foreign.vit, {"image_size": [32, 48]}, r"image_size is \[32, 48\]; only squares have a counterpart"),
        (foreign.vit, {"image_size": 33}, "pictures of 33 pixels do not come apart into squares of 8"),
        (foreign.vit, {"image_size": 64}, "position_embeddings has shape .* weights and config.json do not belong"),
        (foreign.vit, {"num_hidden_layers": 3}, "lacks encoder.layer.2"),
        (foreign.vit, {"num_hidden_layers": 1}, "has extra encoder.layer.1"),
        (foreign.vit, {"qkv_bias": False}, "qkv_bias False has no counterpart here"),
        (foreign.vit, {"hidden_act": "mish"}, "hidden_act 'mish' has no counterpart"),
        (foreign.vit, {"id2label": {0: "a", 1: "b"}}, "classifier.weight has shape"),
        (foreign.resnet, {"hidden_sizes": [8, 24]}, r"hidden_sizes \[8, 24\] have no counterpart here, \[8, 16\]"),
        (foreign.resnet, {"depths": "two"}, "depths is 'two'; it takes a number of layers for each stage"),
        (foreign.resnet, {"downsample_in_bottleneck": True}, "downsample_in_bottleneck True has no counterpart"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(
    make: Callable[[Path], Any], changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    make(tmp_path / "in")
    change_config(tmp_path / "in", **changes)
    with pytest.raises(DataError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (
            {"image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]},
            "a mean of .* have no counterpart: known",
        ),
        ({"image_mean": "grey", "image_std": 2}, "a mean of grey and a deviation of 2 have no counterpart"),
        ({"do_normalize": False}, "pixels that are not scaled have no counterpart here"),
        ({"rescale_factor": 1.0}, "rescale_factor 1.0 has no counterpart here"),
        ({"size": {"height": 32, "width": 48}}, "pictures are squares of whole pixels"),
        ({"size": 30}, "pictures of 30 pixels do not come apart into squares of 8"),
    ],
)
def test_a_preprocessor_that_has_no_counterpart_is_refused(about: dict[str, Any], message: str, tmp_path: Path) -> None:
    foreign.vit(tmp_path / "in")
    preprocess(tmp_path / "in", **about)
    with pytest.raises(DataError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    foreign.vit(tmp_path / "in")
    path = tmp_path / "in" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match=r"is no whole safetensors file .*; copy it again"):
        import_source(tmp_path / "in", tmp_path / "run")
