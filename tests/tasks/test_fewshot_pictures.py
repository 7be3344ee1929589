"""Few-shot learning of pictures: the same episodes, other examples; whole groups of classes are held out."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.config import ConfigError
from regard.data.examples import LabelledPictureData
from regard.data.sources import omniglot
from regard.errors import DataError
from regard.tasks.made.fewshot import FewShots
from regard.tasks.made.fewshot_pictures import FewShotPictures
from regard.training.recipes import make_recipe
from tests.conftest import Say, answer
from tests.paintings import COLOURS, painting, write_paintings
from tests.toy import perform

pytest.importorskip("PIL")
MODEL = ("--inner", 8, "--blocks", 2)
SIZES = ("--ways", 2, "--shots", 2, "--tested", 2, "--validated", 2, "--side", 8, "--judged", 10, "--batch-tokens", 24)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six classes: three colours, each as it is and upside down in name."""
    folder = tmp_path_factory.mktemp("few")
    write_paintings(folder / "train", 6)
    for colour in COLOURS:
        shutil.copytree(folder / "train" / colour, folder / "train" / f"{colour} again")
    words = ["train", "fewshot", "--train", folder / "train", *SIZES, *MODEL, "--max-steps", 6, "--validate-every", 3]
    perform(*words, "--run", folder / "run")
    return folder


def test_pictures_are_seen_by_their_data(home: Path) -> None:
    assert FewShots.taking({"train": {"file": str(home / "train")}}) is FewShotPictures
    assert FewShots.taking({"train": {"name": "trec"}}) is FewShots


def test_it_tells_pictures_of_ones_own_classes_apart(home: Path) -> None:
    tool = library.load(home / "run")
    examples = {name: [painting(name, seed) for seed in range(3)] for name in ("red", "blue")}
    assert tool.classify(examples, [painting("blue", 70), painting("red", 71)]) == ["blue", "red"]
    with pytest.raises(library.Error, match="trained to tell 2 apart"):
        tool.classify({"red": [painting("red", 1)]}, [painting("red", 2)])


def test_a_query_alone_is_judged_as_beside_others(home: Path) -> None:
    task = FewShotPictures(
        train=LabelledPictureData(file=str(home / "train")), ways=2, shots=2, tested=2, validated=2, side=8
    ).open(home / "other", lambda text: None)
    model = library.load(home / "run").model
    pictures, keep, labels = task.inputs(task.drawn("test", 3), model)
    assert keep is None
    assert pictures.shape == (3, 6, 3, 8, 8)
    together = model(pictures, None, labels)
    alone = model(pictures[1:2, [0, 1, 2, 3, 5]], None, labels[1:2])
    torch.testing.assert_close(together[1:2, 1:], alone)


def test_scores_stand_beside_pixels_and_chance(home: Path, regard: Say) -> None:
    found = answer(regard, "evaluate", home / "run", "--count", 20)
    assert set(found["accuracy"]) == {
        "the model (centroids)",
        "nearest centroid of its vectors",
        "nearest centroid of pixels, untrained",
    }
    assert found["episodes"] == 20


def test_groups_are_held_out_whole() -> None:
    names = [f"{group}/{number}" for group in "abcde" for number in range(6)]
    task = FewShotPictures(grouped=True, tested=2, validated=4)
    train, valid, test = (set(part) for part in task.divided(names))
    assert len({name[0] for name in test}) == 2
    assert len(test) == 12
    assert not {name[0] for name in test} & {name[0] for name in train | valid}
    assert (len(valid), len(train)) == (4, 14)
    assert train | valid | test == set(names)
    with pytest.raises(DataError, match="5 groups are too few to hold 5"):
        FewShotPictures(grouped=True, tested=5).divided(names)
    with pytest.raises(DataError, match="18 classes are too few to hold 18"):
        FewShotPictures(grouped=True, tested=2, validated=18).divided(names)


def test_a_reader_of_texts_is_refused(home: Path) -> None:
    with pytest.raises(ConfigError, match="its reader reads no pictures"):
        make_recipe("fewshot", {"train": {"file": str(home / "train")}}, preset="snail-small")


def test_omniglot_turns_its_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.zeros((2, omniglot.SIDE, omniglot.SIDE), np.uint8)
    drawn[:, 0, :10] = 1
    (tmp_path / "omniglot").mkdir()
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    path = tmp_path / "omniglot" / "small1.npz"
    ink = np.packbits(drawn.reshape(2, -1), axis=1)
    np.savez(path, ink=ink, character=np.array(["Greek/a", "Greek/b"]), drawer=np.array([1, 2]))
    upright, turned = (list(omniglot.labelled(variant, "train")) for variant in omniglot.VARIANTS)
    assert [one.label for one in upright] == ["Greek/a", "Greek/b"]
    assert [one.label for one in turned][2:4] == ["Greek/a turned 90", "Greek/b turned 90"]
    first = turned[2].picture.pixels()
    assert not first[-10:, 0].any()
    assert (first[:-10] == omniglot.PAPER).all()
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="is damaged or something else"):
        list(omniglot.labelled("upright", "train"))
