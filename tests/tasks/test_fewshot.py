"""Few-shot learning: classes are held out, episodes follow from their numbers, and a run is like any other."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import regard as library
from regard.config import ConfigError
from regard.data.examples import LabelledData
from regard.data.labelled import Labelled
from regard.errors import DataError
from regard.runfolder import Run
from regard.tasks.made.episodes import TermWeights, by_class, divided
from regard.tasks.made.fewshot import FewShots, finest
from regard.training.recipes import make_recipe
from tests.conftest import Say, answer
from tests.toy import cut_short, losses, perform

TOPICS = ["cat", "dog", "cow", "hen", "pig", "fox", "owl", "bee", "ant", "elk", "emu", "yak"]
FRAMES = ["the {} runs", "a {} here", "see the {} now", "my {} sleeps", "that {} again", "one more {}"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class a word: the sentences that have it."""
    path = tmp_path_factory.mktemp("classes") / "texts.tsv"
    path.write_text("".join(f"{frame.format(topic)}\t{topic}\n" for topic in TOPICS for frame in FRAMES))
    return path


def config(data: Path) -> FewShots:
    return FewShots(train=LabelledData(file=str(data)), ways=2, shots=2, tested=3, validated=3)


def test_no_class_is_in_two_parts(data: Path, tmp_path: Path) -> None:
    task = config(data).open(tmp_path, print)
    parts = [set(shelf.classes) for shelf in task.shelves.values()]
    assert [len(part) for part in parts] == [6, 3, 3]
    assert set.union(*parts) == set(TOPICS)
    other = divided(TOPICS, 3, 3, division=1)
    assert set(other[2]) != set(task.shelves["test"].classes)
    assert not any(topic in text.split() for topic in parts[2] for text in task.train_texts())


def test_an_episode_follows_from_its_number_and_asks_for_texts_that_it_did_not_show(data: Path, tmp_path: Path) -> None:
    task = config(data).open(tmp_path, print)
    for one, again in zip(task.drawn("test", 20), task.drawn("test", 20), strict=True):
        assert np.array_equal(one.examples, again.examples)
        assert sorted(one.labels.tolist()) == [0, 0, 1, 1]
        assert not set(one.examples.tolist()) & set(one.queries.tolist())
        for text, label in zip(one.examples.tolist(), one.labels.tolist(), strict=True):
            assert one.classes[label] in task.names[text].split()
        for text, wanted in zip(one.queries.tolist(), one.classes, strict=True):
            assert wanted in task.names[text].split()


def test_a_text_that_stands_twice_is_one_text() -> None:
    texts, classes = by_class([Labelled("a b", "x"), Labelled("a b", "x"), Labelled("c", "x"), Labelled("d", "y")], 2)
    assert texts == ["a b", "c", "d"]
    assert classes == {"x": [0, 1]}


def test_too_few_classes_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="12 classes are too few to hold 20 of them out"):
        FewShots(train=LabelledData(file=str(data))).open(tmp_path, print)
    with pytest.raises(DataError, match="3 classes for split 'valid'; 5 ways need as many"):
        FewShots(train=LabelledData(file=str(data)), tested=3, validated=3).open(tmp_path, print)


def test_term_weights_are_their_formula(data: Path, tmp_path: Path) -> None:
    words = TermWeights(["a cat", "a dog", "the dog"])
    cat, dog, new = math.log(4 / 2) + 1, math.log(4 / 3) + 1, math.log(4) + 1
    size = math.sqrt(cat**2 + (2 * dog) ** 2 + new**2)
    assert words.vector("dog cat dog emu") == pytest.approx(
        {"dog": 2 * dog / size, "cat": cat / size, "emu": new / size}
    )
    task = config(data).open(tmp_path, print)
    words = TermWeights(task.train_texts())
    assert all(words.nearest(one, task.names).tolist() == [0, 1] for one in task.drawn("test", 20))


def test_the_finest_labelling_of_a_set_is_taken() -> None:
    assert finest(LabelledData(name="trec")).languages == "fine"
    assert finest(LabelledData(name="trec", languages="coarse")).languages == "coarse"
    assert make_recipe("fewshot", {part: {"name": "trec"} for part in ("train", "valid")}).task.kind == "fewshot"


def test_a_model_without_a_learner_is_refused(data: Path) -> None:
    with pytest.raises(ConfigError, match="of kind decoder does not learn from a few examples"):
        make_recipe("fewshot", {"train": {"file": str(data)}}, preset="gpt2")


# --- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "run"
    options = "--ways 2 --shots 2 --tested 3 --validated 3 --judged 30 --width 16 --hidden 12 --filters 8".split()
    options += "--max-steps 40 --validate-every 20 --batch-tokens 60 --rate 0.005 --keep-checkpoints 9".split()
    perform("train", "fewshot", "--train", data, "--run", folder, *options)
    return folder


def test_evaluate_tells_accuracies_with_intervals_on_classes_that_were_held_out(run: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", run, "--count", 50)
    assert (result["ways"], result["shots"], result["episodes"]) == (2, 2, 50)
    assert len(result["classes"]) == 3
    assert result["accuracy"]["nearest centroid of TF-IDF, untrained"] == {"mean": 1.0, "within": 0.0}
    model = result["accuracy"]["the model (snail)"]
    assert 0 <= model["mean"] <= 1
    assert model["within"] > 0
    code, out, _ = regard("evaluate", run, "--count", 20, "--split", "valid")
    assert code == 0
    assert "20 episodes of 3 valid classes" in out
    code, _, err = regard("evaluate", run, "--split", "other")
    assert code == 2
    assert "train, valid, test" in err


def test_a_resumed_run_equals_an_uninterrupted_one(run: Path, tmp_path: Path) -> None:
    from regard.training.session import resume

    cut = cut_short(run, tmp_path / "cut", 40)
    resume(cut)
    assert losses(cut) == losses(Run(run))


def test_a_run_classifies_by_examples_of_ones_own(run: Path) -> None:
    classifier = library.load(run)
    examples = {"one": ["the cat runs", "a cat here"], "other": ["see the dog now"]}
    assert set(classifier.classify(examples, ["my cat sleeps", "my dog sleeps"])) <= {"one", "other"}
    with pytest.raises(ValueError, match="1 classes with examples; this model was trained to tell 2 apart"):
        classifier.classify({"one": ["a cat"]}, ["a dog"])


def test_the_report_shows_which_examples_are_looked_at(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Which examples a question looks at" in page
    assert "episode.1.self" in page


@pytest.mark.parametrize("preset", ["prototypical-2017", "snail-small"])
def test_learners_tell_new_words_apart(preset: str, data: Path, tmp_path: Path) -> None:
    """The words of the test classes are unknown to the word tokenizer; characters are not."""
    options = "--ways 2 --shots 2 --tested 3 --validated 3 --judged 60 --tokenizer char --width 16 --hidden 16".split()
    options += "--max-steps 80 --validate-every 80 --batch-tokens 120 --rate 0.01 --model.reader.dropout 0".split()
    folder = tmp_path / "run"
    perform("train", "fewshot", "--train", data, "--preset", preset, "--run", folder, *options)
    task = config(data).open(folder, print)
    right, _ = task.verdicts(library.load(folder).model, task.drawn("test", 100))
    assert right["accuracy"].mean() > 0.7
    if preset == "prototypical-2017":
        assert np.array_equal(right["accuracy"], right["centroid_accuracy"])
