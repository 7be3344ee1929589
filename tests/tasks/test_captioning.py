"""Captions of pictures: learnt, written, scored; pictures read once, features kept, what cannot be read refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import regard as library
from regard.checkpoint import read_tensors, weights_of, write_tensors
from regard.config import change, to_dict
from regard.data.examples import CaptionData
from regard.data.store import Store
from regard.errors import DataError
from regard.models import PictureEncoder, PictureWriter
from regard.nn.backbones import ResidualNet
from regard.runfolder import FEATURES, PICTURES, Run
from regard.tasks.captioning import features as computing
from regard.tasks.captioning.captioner import Captioner
from regard.tasks.captioning.task import Captioning, CaptioningTask
from regard.training.records import read_records
from regard.training.session import resume
from regard.zoo import get
from tests.conftest import Say, answer
from tests.helpers import newest_samples
from tests.toy import Toy, perform

pytest.importorskip("PIL", reason="pictures are read by Pillow")

SIDE = 16
COLOURS = {"blue": (40, 60, 200), "green": (40, 170, 60), "red": (210, 50, 40)}
MODEL = "--layers 1 --width 16 --model.encoder.width 16 --heads 2 --hidden 32 --inner 8 --task.side 16".split()
TRAINING = (
    "--max-steps 90 --validate-every 45 --batch-pictures 8 --rate 0.01 --warmup 5 --smoothing 0 --average none".split()
)


def painting(colour: str, seed: int, height: int = SIDE, width: int = SIDE) -> NDArray[np.uint8]:
    """Of one colour, with noise."""
    noise = np.random.default_rng(seed).integers(-40, 41, (height, width, 3))
    return (np.array(COLOURS[colour]) + noise).clip(0, 255).astype(np.uint8)


def said_of(colour: str, number: int) -> list[str]:
    """As many captions as there may be: one to three."""
    return [f"all {colour}", f"a {colour} picture", f"it is {colour}"][: 1 + number % 3]


def write_captioned(folder: Path, name: str, count: int) -> Path:
    """A table of so many pictures of each colour, of several sizes, a line for each caption."""
    from PIL import Image

    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = ["picture\tcaption"]
    for colour in COLOURS:
        for number in range(count):
            file = f"{name} {colour} {number}.png"
            pixels = painting(colour, number + 100 * len(name), SIDE + number % 3, SIDE + number % 2)
            Image.fromarray(pixels).save(folder / "images" / file)
            rows += [f"{file}\t{caption}" for caption in said_of(colour, number)]
    table = folder / f"{name}.tsv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return table


def training(home: Path, *more: object) -> list[object]:
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv"]
    return ["train", "caption", *data, *MODEL, *TRAINING, *more]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    for name, count in (("train", 12), ("valid", 3)):
        write_captioned(folder, name, count)
    perform(*training(folder), "--run", folder / "run")
    return folder


def picture(home: Path, colour: str) -> Path:
    return home / "images" / f"valid {colour} 0.png"


# --- use --------------------------------------------------------------------------------------------------------------


def test_a_captioner_says_what_it_learnt_of_whatever_holds_a_picture(home: Path) -> None:
    from PIL import Image

    captioner = library.load(home / "run")
    assert isinstance(captioner, Captioner)
    path = picture(home, "green")
    expected = captioner(path)
    assert "green" in expected
    pixels = np.asarray(Image.open(path))
    assert captioner([str(path), path.read_bytes(), pixels, Image.open(path)]) == [expected] * 4
    assert "red" in captioner(picture(home, "red"), beam=1)
    several = captioner.results([path], beam=3, nbest=2)
    assert several[0].score >= several[1].score
    assert [one.picture for one in several] == [str(path)] * 2
    assert captioner([path, path], beam=3, nbest=2) == [several[0].text] * 2


def test_the_verb_names_pictures_or_reads_their_names(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [picture(home, "blue"), picture(home, "red")]
    code, out, _ = regard("caption", home / "run", *paths, "--beam", "3")
    assert code == 0
    assert [colour in line for colour, line in zip(("blue", "red"), out.splitlines(), strict=True)] == [True] * 2
    found = answer(regard, "caption", home / "run", paths[0])
    assert found["picture"] == str(paths[0])
    assert found.keys() == {"picture", "text", "score", "log_prob"}
    listed = tmp_path / "names.txt"
    listed.write_text(f"{paths[1]}\n\n{paths[0]}\n", encoding="utf-8")
    with listed.open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        code, out, _ = regard("caption", home / "run")
    assert code == 0
    assert ["red" in out.splitlines()[0], out.splitlines()[1], "blue" in out.splitlines()[2]] == [True, "", True]


def test_a_run_is_scored_beside_all_captions(home: Path, regard: Say) -> None:
    scores = answer(regard, "evaluate", home / "run", "--data", home / "valid.tsv", "--beam", "2")
    assert scores["exact"] > 0.9
    assert scores["bleu_1"] > 90
    assert scores["pictures"] == 9
    assert library.evaluate(home / "run", home / "valid.tsv", beam=2).metrics()["cider"] == scores["cider"]


def test_validation_shows_pictures_by_name(home: Path) -> None:
    sample = newest_samples(home / "run")[0]
    assert sample["source"].endswith("valid blue 0.png")
    assert "blue" in sample["output"]
    assert sample["reference"] == "all blue"


# --- what cannot be done ----------------------------------------------------------------------------------------------


def test_what_is_no_picture_is_named(home: Path, regard: Say, tmp_path: Path) -> None:
    text, half = tmp_path / "letter.jpg", tmp_path / "half.jpg"
    text.write_text("Dear all,", encoding="utf-8")
    whole = tmp_path / "whole.jpg"
    from PIL import Image

    Image.fromarray(painting("red", 1, 64, 64)).save(whole)
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    for path, why in (
        (text, "letter.jpg is no picture that can be read"),
        (half, "half.jpg is damaged, or only a part of a picture"),
        (tmp_path / "none.jpg", "none.jpg"),
        ("a sentence", "a sentence does not exist"),
    ):
        code, _, err = regard("caption", home / "run", path)
        assert code == 2
        assert why in err
        assert len(err.strip().splitlines()) == 1
    with pytest.raises(DataError, match="it takes a file, or pixels"):
        library.load(home / "run")(np.zeros((4, 4)))


def test_runs_of_texts_and_of_pictures_are_told_apart(home: Path, regard: Say, toy: Toy) -> None:
    assert "for the task 'translate', not to caption" in regard("caption", toy.good, picture(home, "red"))[2]
    assert "for the task 'caption', not to translate" in regard("translate", home / "run", "un deux")[2]
    code, _, err = regard("train", "caption", "--data", "phrasebook", "--run", home / "none")
    assert code == 2
    assert "phrasebook has no captions examples; those that have: scenes, flickr8k" in err
    code, _, err = regard(*training(home), "--preset", "translator", "--run", home / "none")
    assert code == 2
    assert "reads no pictures and writes" in err
    assert "a red picture does not exist" in regard("look", home / "run", "a red picture")[2]


def test_captions_without_their_pictures_are_refused_or_left_out(home: Path, regard: Say, tmp_path: Path) -> None:
    table = write_captioned(tmp_path, "train", 4)
    with table.open("a", encoding="utf-8") as more:
        more.write("lost.png\tall red\nlost.png\ta red picture\n")
    asked = ["train", "caption", "--train", table, "--valid", home / "valid.tsv", *MODEL, "--max-steps", 2]
    code, _, err = regard(*asked, "--run", tmp_path / "run")
    assert code == 2
    assert "the picture lost.png is neither in" in err
    code, _, err = regard(*asked, "--run", tmp_path / "run", "--missing", "skip")
    assert code == 0, err
    assert "1 training pictures are missing and were skipped, such as lost.png" in err
    assert len(Store.open(tmp_path / "run" / PICTURES)) == 12
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("un\tone\ndeux\ttwo\n", encoding="utf-8")
    code, _, err = regard("train", "caption", "--train", pairs, "--valid", pairs, "--run", tmp_path / "other")
    assert code == 2
    assert "the picture un is neither in" in err


def test_a_damaged_picture_among_many_is_named_and_what_was_read_is_kept(
    home: Path, regard: Say, tmp_path: Path
) -> None:
    table = write_captioned(tmp_path, "train", 4)
    damaged = tmp_path / "images" / "train green 2.png"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:200])
    asked = ["train", "caption", "--train", table, "--valid", home / "valid.tsv", *MODEL, "--max-steps", 2]
    code, _, err = regard(*asked, "--run", tmp_path / "run")
    assert code == 2
    assert "train green 2.png is damaged" in err
    damaged.write_bytes(whole)
    assert regard(*asked, "--run", tmp_path / "run")[0] == 0


# --- learning ---------------------------------------------------------------------------------------------------------


def prepared(home: Path, folder: Path, **fields: Any) -> CaptioningTask:
    data = {name: CaptionData(file=str(home / f"{name}.tsv")) for name in ("train", "valid")}
    config = Captioning(**data, side=SIDE, **fields)  # type: ignore[arg-type]
    task = config.open(folder, lambda text: None)
    assert isinstance(task, CaptioningTask)
    return task


def small(task: CaptioningTask, **changes: Any) -> PictureWriter:
    sizes = {"layers": 1, "width": 16, "encoder.width": 16, "heads": 2, "hidden": 32, "inner": 8, "dropout": 0.0}
    model = task.fit(change(get("captioner"), {**sizes, **changes})).build()
    assert isinstance(model, PictureWriter)
    return model


def test_a_picture_is_stored_once_with_all_of_its_captions(home: Path, tmp_path: Path) -> None:
    task = prepared(home, tmp_path / "run")
    assert len(task.store) == 36
    assert task.store.tokens(0) == 36 * SIDE * SIDE * 3
    assert task.captions.counts.tolist() == [1, 2, 3] * 12
    assert task.captions.longest.tolist() == [3, 4, 4] * 12  # the end included
    written = [task.tokenizer.decode(row.tolist()) for row in task.captions.of(np.array([2]))[0]]
    assert written == said_of("blue", 2)
    again = prepared(home, tmp_path / "run")  # nothing is read anew
    assert again.captions.counts.tolist() == task.captions.counts.tolist()


def test_captions_that_are_too_long_are_dropped_and_a_picture_without_any_too(home: Path, tmp_path: Path) -> None:
    told: list[str] = []
    data = {name: CaptionData(file=str(home / f"{name}.tsv")) for name in ("train", "valid")}
    task = Captioning(**data, side=SIDE, max_length=3).open(tmp_path / "run", told.append)  # type: ignore[arg-type]
    assert task.captions.counts.tolist() == [1] * 36
    assert "36 training captions of 3 tokens or more were dropped" in told
    with pytest.raises(DataError, match="there are no validation captions of fewer than 2 tokens"):
        Captioning(**data, side=SIDE, max_length=2).open(tmp_path / "other", told.append)  # type: ignore[arg-type]


def test_an_epoch_shows_each_picture_once_with_some_of_its_captions(home: Path, tmp_path: Path) -> None:
    task = prepared(home, tmp_path / "run", captions_each=2, batch_pictures=5)
    model = small(task)
    batches = task.batches(1000, seed=0).epoch(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(36))
    assert max(map(len, batches)) == 5
    row = np.array([2])  # three captions, of three and four tokens
    counts = {task.loss(model, row)[1] for _ in range(20)}
    assert counts == {7, 8}


@torch.no_grad()
def test_a_loss_is_that_of_each_caption_with_its_own_picture(home: Path, tmp_path: Path) -> None:
    task = prepared(home, tmp_path / "run", smoothing=0.0)
    model = small(task).eval()
    loss, count = task.loss(model, np.array([0, 2]))  # of one caption and of three
    expected, words = 0.0, 0
    for row in (0, 2):
        pictures = task.pictures(model.encoder, task.store, np.array([row]))
        for caption in task.captions.of(np.array([row]))[0]:
            target = torch.tensor([[task.tokenizer.start, *caption.tolist(), task.tokenizer.end]])
            mean = model(pictures, target[:, :-1], labels=target[:, 1:])
            expected, words = expected + float(mean) * (len(caption) + 1), words + len(caption) + 1
    assert count == words
    assert float(loss) == pytest.approx(expected, rel=1e-4)


def test_pictures_are_changed_while_learning_alone(home: Path, tmp_path: Path) -> None:
    from regard.data.pictures.augment import Augment

    task = prepared(home, tmp_path / "run", augment=Augment(flip=0.5, colour=0.5))
    model, row = small(task), np.array([1])

    def seen() -> torch.Tensor:
        torch.manual_seed(1)
        return task.pictures(model.encoder, task.store, row)

    changed = seen()
    assert torch.equal(changed, seen())
    assert not torch.equal(changed, task.pictures(model.eval().encoder, task.store, row))


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(home: Path, tmp_path: Path) -> None:
    more = "--max-steps 16 --validate-every 8 --captions-each 1 --flip 0.5 --dropout 0.1".split()
    for name in ("whole", "cut"):
        perform(*training(home, *more), "--run", tmp_path / name)
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    shutil.rmtree(cut.checkpoint(16))  # as if stopped soon after step 8
    resume(cut)
    one, other = (read_tensors(run.checkpoint(16) / "model.safetensors") for run in (whole, cut))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_norms_of_batches_have_seen_goes_with_the_weights(home: Path, tmp_path: Path) -> None:
    sizes = "--inner 4 --task.side 32 --width 12 --hidden 16 --model.reader.kernel.hidden 8 --dropout 0".split()
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv", *TRAINING, "--average", "exponential"]
    run = tmp_path / "run"
    perform("train", "caption", "--preset", "xu-2015-soft", *sizes, *data, "--max-steps", 20, "--run", run)
    seen = [name for name in read_tensors(run / "model.safetensors") if name.endswith("running_var")]
    assert len(seen) == 20
    validated = read_records(run / "metrics.jsonl")[-2]["metrics"]
    again = library.evaluate(run, home / "valid.tsv", beam=1).metrics()
    assert {name: validated[name] for name in again} == pytest.approx(again)
    perform("train", "caption", "--run", run, "--resume", "--max-steps", 22)


# --- readers that do not learn ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that holds a reader of pictures and nothing else."""
    run = Run(tmp_path_factory.mktemp("pretrained"))
    torch.manual_seed(5)
    backbone = ResidualNet(blocks=(1, 1), inner=8, stem="small")
    reader = PictureEncoder(side=SIDE, width=12, backbone=backbone, tokens=0, encoder=None).build()
    for norm in (module for module in reader.modules() if isinstance(module, torch.nn.BatchNorm2d)):
        norm.running_mean.uniform_(0.5, 1.5)
        norm.running_var.uniform_(0.5, 1.5)
    run.write_config({"model": to_dict(reader.config)})
    write_tensors(run.weights_path, weights_of(reader))
    return run.path


@torch.no_grad()
def test_features_of_a_frozen_reader_are_computed_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, rows = prepared(home, tmp_path / "run", smoothing=0.0, captions_each=1), np.array([0, 3, 7])
    model = small(task)
    learning, _ = task.loss(model, rows)
    model.encoder.requires_grad_(False)
    task.ready(model)
    assert (tmp_path / "run" / FEATURES / "training" / computing.VALUES).stat().st_size == 36 * 64 * 16 * 2
    monkeypatch.setattr(type(model.encoder), "encode", lambda self, pictures: pytest.fail("computed again"))
    known, _ = task.loss(model, np.array([0, 3, 6]))
    again = prepared(home, tmp_path / "run", smoothing=0.0, captions_each=1)
    again.ready(model)  # the same reader and pictures
    assert torch.equal(again.loss(model, np.array([0, 3, 6]))[0], known)
    monkeypatch.undo()
    model.encoder.requires_grad_(True)
    plain, _ = prepared(home, tmp_path / "run", smoothing=0.0).loss(model, np.array([0, 3, 6]))
    assert float(known) == pytest.approx(float(plain), rel=1e-3)
    assert learning != known  # of other pictures


def test_features_of_other_weights_are_computed_anew(home: Path, tmp_path: Path) -> None:
    task = prepared(home, tmp_path / "run")
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = small(task)
        model.encoder.requires_grad_(False)
        task.ready(model)
        found.append(task.known[task.store].states(np.array([4]), torch.device("cpu")))
        row = task.pictures(model.encoder.eval(), task.store, np.array([4]))
        torch.testing.assert_close(found[-1], model.encoder(row), rtol=1e-3, atol=1e-3)
    assert not torch.equal(*found)


def test_what_is_frozen_sees_each_picture_as_it_is(home: Path, regard: Say, tmp_path: Path, pretrained: Path) -> None:
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv", "--flip", 0.5]
    code, _, err = regard("train", "caption", *data, "--from", pretrained, "--frozen", "--run", tmp_path / "run")
    assert code == 2
    assert "what reads the pictures is frozen and sees each of them once" in err


@pytest.mark.parametrize("preset", ["captioner", "xu-2015-soft"])
def test_a_captioner_begins_from_a_reader_of_pictures(
    home: Path, tmp_path: Path, pretrained: Path, preset: str
) -> None:
    sizes = ["--model.decoder.layers", 1] if preset == "captioner" else ["--hidden", 24]
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv", *TRAINING]
    asked = ["--from", pretrained, "--frozen", "--preset", preset, *sizes, "--max-steps", 6, "--validate-every", 6]
    perform("train", "caption", *data, *asked, "--run", tmp_path / "run")
    before, after = (read_tensors(Run(path).weights_path) for path in (pretrained, tmp_path / "run"))
    assert before.keys() == {name.removeprefix("encoder.") for name in after if name.startswith("encoder.")}
    assert all(torch.equal(weight, after[f"encoder.{name}"]) for name, weight in before.items())
    assert (tmp_path / "run" / FEATURES / "training" / computing.VALUES).exists()
    config = Run(tmp_path / "run").section("model")
    assert config["encoder"]["width"] == 12
    moved = pretrained.rename(tmp_path / "moved")  # a run is resumed without the one that it began from
    try:
        perform("train", "caption", "--run", tmp_path / "run", "--resume", "--max-steps", 8)
    finally:
        moved.rename(pretrained)
    assert isinstance(library.load(tmp_path / "run")(picture(home, "red")), str)
