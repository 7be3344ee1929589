"""Looking at a picture: the weights of the pass that judged it, cell by cell, in every form."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.data.pictures.examples import as_picture
from regard.data.tokenizers import Tokenizer
from regard.errors import Error
from regard.look import Look
from regard.look.drawing import frames, shown
from regard.look.page import page
from regard.models import PictureWriter
from regard.tasks.captioning.captioner import Captioner
from regard.tasks.judging.picturing import PictureClassifier
from tests.conftest import Say
from tests.helpers import randomise
from tests.paintings import SIDE, painting, write_painted

image = pytest.importorskip("PIL.Image")
CELLS = (SIDE // 4) ** 2


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_painted(tmp_path_factory.mktemp("painted") / "run")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "red.png"
    image.fromarray(painting("red", 1, 40, 24)).save(path)
    return path


@pytest.fixture(scope="module")
def used(run: Path) -> PictureClassifier:
    found = library.load(run)
    assert isinstance(found, PictureClassifier)
    return found


def test_what_is_shown_is_what_judged(used: PictureClassifier, file: Path) -> None:
    look = used.look(file)
    assert {verdict.label: pytest.approx(verdict.probability, abs=1e-6) for verdict in look.verdicts} == used.scores(
        file
    )
    (given,) = used.source.batch(used.source.rows(used.given(file))[0], used.model)
    with library.watch(used.model) as seen, torch.no_grad():
        used.model(given)
    for name, calls in seen.items():
        np.testing.assert_array_equal(look.arrays[name], calls[-1][0].numpy())
    assert look.grid is not None
    assert (look.grid.rows, look.grid.columns, look.grid.own) == (4, 4, 1)
    assert look.sides["picture"].tokens[:3] == ["[CLS]", "1,1", "1,2"]
    np.testing.assert_array_equal(look.arrays["picture"], used.source.read(used.given(file)[0]))


def test_shares_follow_the_pool_through_all_layers(used: PictureClassifier, file: Path) -> None:
    look = used.look(file)
    rolled = np.eye(CELLS + 1)
    for layer in ("encoder.0.self", "encoder.1.self"):
        rolled = (0.5 * np.eye(CELLS + 1) + 0.5 * look.arrays[layer].mean(0)) @ rolled
    np.testing.assert_allclose(look.arrays["shares"][0, 0], look.arrays["pool.0.words"][0, 0] @ rolled, atol=1e-5)
    assert look.shares == "rollout"


def test_a_head_can_be_silent(used: PictureClassifier, file: Path) -> None:
    look = used.look(file, without=["encoder.1.self.0"])
    assert look.changes is not None
    assert look.changes.log_prob != look.changes.before_log_prob


def test_it_is_saved_whole(used: PictureClassifier, file: Path) -> None:
    look = used.look(file)
    again = Look.from_bytes(look.to_bytes())
    assert again.grid == look.grid
    np.testing.assert_array_equal(again.arrays["picture"], look.arrays["picture"])
    assert json.loads(json.dumps(look.to_dict()))["grid"]["rows"] == 4
    assert "regard/picture.js" in page(look)


def test_frames_are_the_heads_from_the_models_own_token(used: PictureClassifier, file: Path) -> None:
    look = used.look(file)
    assert [frame.label for frame in frames(look)][1:] == [look.sides["label"].text]
    whole, *heads = frames(look, "encoder.1.self")
    assert whole.weights is None
    for number, frame in enumerate(heads):
        assert frame.weights is not None
        np.testing.assert_array_equal(frame.weights.reshape(-1), look.arrays["encoder.1.self"][number, 0, 1:])
    assert len(frames(look, "encoder.1.self", 1)) == 2
    with pytest.raises(Error, match=r"did you mean 'encoder\.1\.self'"):
        frames(look, "encoder.9.self")
    with pytest.raises(Error, match="has heads 0 to"):
        frames(look, "encoder.1.self", 99)


def test_what_is_attended_to_stays_light(used: PictureClassifier, file: Path) -> None:
    look = used.look(file)
    frame = frames(look, "encoder.0.self")[1]
    assert frame.weights is not None
    light = np.asarray(shown(look, frame, smooth=False)).astype(float).mean(-1)
    plain = np.asarray(shown(look, frames(look)[0])).astype(float).mean(-1)
    size = len(light) // 4
    shares = (light / plain.clip(1)).reshape(4, size, 4, size).mean((1, 3))
    assert np.argmax(shares) == np.argmax(frame.weights)
    np.testing.assert_allclose(shares, 1 - 0.82 * (1 - frame.weights / frame.weights.max()), atol=0.02)


def test_the_command_writes_every_form(run: Path, file: Path, regard: Say, tmp_path: Path) -> None:
    forms = {name: tmp_path / f"look.{name}" for name in ("png", "gif", "svg")}
    words = [word for name, path in forms.items() for word in (f"--{name}", path)]
    code, out, err = regard("look", run, file, "--layer", "encoder.0.self", *words)
    assert (code, out.split()) == (0, [str(path) for path in forms.values()]), err
    heads = len(frames(library.load(run).look(file), "encoder.0.self"))
    with image.open(forms["gif"]) as animation:
        assert animation.n_frames == heads
    tree = ET.fromstring(forms["svg"].read_text())
    assert sum(part.tag.endswith("image") for part in tree.iter()) == heads
    with image.open(forms["png"]) as strip:
        assert strip.width > strip.height
    assert regard("look", run, file, "--out", tmp_path / "page.html")[0] == 0


def test_what_cannot_be_seen_is_one_sentence(run: Path, file: Path, regard: Say, tmp_path: Path) -> None:
    assert "does not exist" in regard("look", run, tmp_path / "none.png")[2]
    assert "leave the second out" in regard("look", run, file, "another text")[2]
    (tmp_path / "text.txt").write_text("no picture")
    assert "is no picture that can be read" in regard("look", run, tmp_path / "text.txt")[2]


# --- captions ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["captioner", "xu-2015-soft"])
def captioner(request: pytest.FixtureRequest) -> Captioner:
    """One that nobody trained."""
    tokenizer = Tokenizer.train(["a red thing on a blue thing"] * 4, "word")
    torch.manual_seed(4)
    model = library.build(request.param, vocabulary=tokenizer.vocabulary, side=32, width=16, **SMALLER[request.param])
    assert isinstance(model, PictureWriter)
    randomise(model)
    return Captioner(model.eval(), tokenizer, 32, "stretch", 12)


SMALLER = {"captioner": {"heads": 2, "hidden": 32}, "xu-2015-soft": {"hidden": 16, "inner": 8}}


def test_a_caption_is_shown_as_it_was_written(captioner: Captioner, file: Path) -> None:
    look = captioner.look(file, beam=3)
    assert look.sides["target"].text == captioner(file, beam=3)
    (pictures,) = captioner.source.seen(captioner.source.read(as_picture(file))[None].copy(), captioner.model)
    with library.watch(captioner.model) as seen, torch.no_grad():
        hidden = captioner.model.features(pictures, torch.tensor([look.sides["target"].ids]))
        chances = captioner.model.head(hidden).softmax(-1)[0]
    for name, calls in seen.items():
        np.testing.assert_allclose(look.arrays[name], calls[-1][0].numpy(), atol=1e-6)
    ids = [*look.sides["target"].ids[1:], captioner.tokenizer.end]
    for place, (given, told) in enumerate(zip(ids, look.predictions, strict=True)):
        assert told.probability == pytest.approx(float(chances[place, given]), abs=1e-5)


def test_each_word_has_a_frame_of_the_step_that_wrote_it(captioner: Captioner, file: Path) -> None:
    look = captioner.look(file, "a red thing")
    assert [frame.label for frame in frames(look)][1:] == ["a", "red", "thing"]
    name = [layer.name for layer in look.layers if layer.columns == "picture" and layer.rows == "target"][-1]
    steps = look.arrays[name].mean(0)
    for step, frame in enumerate(frames(look)[1:]):
        assert frame.weights is not None
        np.testing.assert_allclose(frame.weights.reshape(-1), steps[step], atol=1e-6)


def test_a_silent_head_changes_what_is_written_or_how_likely(captioner: Captioner, file: Path) -> None:
    name = [layer.name for layer in captioner.look(file).layers if layer.columns == "picture"][-1]
    look = captioner.look(file, "a red thing", without=[f"{name}.0"])
    assert look.changes is not None
    assert look.changes.log_prob != look.changes.before_log_prob
    assert look.grid is not None
