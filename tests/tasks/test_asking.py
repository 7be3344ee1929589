"""Questions about pictures: learnt, asked by file and by line, judged, resumed exactly; each picture stored once."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.checkpoint import read_tensors
from regard.config import ConfigError
from regard.data.pictures.examples import AskedPicture, MadePicture
from regard.data.store import Store
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.metrics.asked import AskedScores
from regard.models import Encoder
from regard.runfolder import PICTURES, Run
from regard.sides import OnePicture, PictureAndText
from regard.tasks.judging.asking import Asking, BatchesOfPictures, PictureAnswerer
from regard.training.session import read_recipe
from tests.conftest import Say, answer
from tests.paintings import COLOURS, SIDE, painting
from tests.toy import perform

pytest.importorskip("PIL")

MODEL = ("--layers", 1, "--width", 16, "--heads", 2, "--hidden", 16, "--joined", 32, "--task.side", SIDE)
TRAINING = ("--max-steps", 60, "--validate-every", 30, "--batch-tokens", 24, "--rate", 0.01, "--warmup", 5)
WHICH = "what colour is it?"


def questions(colour: str, number: int) -> list[tuple[str, str]]:
    other = [one for one in COLOURS if one != colour][number % 2]
    return [(WHICH, colour), (f"is it {colour}?", "yes"), (f"is it {other}?", "no")]


def write_questions(folder: Path, count: int, seed: int) -> Path:
    """A table beside so many pictures of each colour, of each of which three questions are asked, not in a row."""
    from PIL import Image

    (folder / "images").mkdir(parents=True)
    lines = []
    for number in range(count):
        for colour in COLOURS:
            name = f"{colour}-{number}.png"
            Image.fromarray(painting(colour, seed + number)).save(folder / "images" / name)
            lines += [(place, f"{name}\t{q}\t{a}") for place, (q, a) in enumerate(questions(colour, number))]
    table = folder / "questions.tsv"
    table.write_text("picture\tquestion\tanswer\n" + "".join(f"{line}\n" for _, line in sorted(lines)))
    return table


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of questions, and a run."""
    folder = tmp_path_factory.mktemp("asked")
    for seed, name in enumerate(("train", "valid", "test")):
        write_questions(folder / name, 8, 100 * seed)
    perform("train", "ask", "--run", folder / "run", *data(folder), *MODEL, *TRAINING)
    return folder


def data(folder: Path) -> list[object]:
    return ["--train", folder / "train" / "questions.tsv", "--valid", folder / "valid" / "questions.tsv"]


def typed(lines: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(lines.encode()))


def shown(home: Path, colour: str, number: int = 0) -> Path:
    return home / "test" / "images" / f"{colour}-{number}.png"


# --- use --------------------------------------------------------------------------------------------------------------


def test_it_learns_and_takes_files_and_pixels(home: Path) -> None:
    asker = library.load(home / "run")
    assert isinstance(asker, PictureAnswerer)
    assert set(asker.labels) == {*COLOURS, "yes", "no"}
    for colour in COLOURS:
        assert asker(shown(home, colour), WHICH) == colour
        assert asker(painting(colour, 900, 40, 31), ["What colour is it?", WHICH]) == [colour, colour]
    assert sum(asker.scores(str(shown(home, "red")), WHICH).values()) == pytest.approx(1, abs=1e-5)


def test_a_question_alone_is_answered_as_in_a_batch(home: Path) -> None:
    asker = library.load(home / "run")
    asked = [pair for colour in COLOURS for pair in asker.about(shown(home, colour), [WHICH, "is it red?"])]
    alone = np.concatenate([asker.verdicts([one]) for one in asked])
    np.testing.assert_allclose(asker.verdicts(asked), alone, atol=1e-5)


def test_the_verb_asks_about_a_picture_and_about_lines(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    red, blue = shown(home, "red"), shown(home, "blue")
    assert regard("ask", home / "run", red, WHICH, WHICH)[:2] == (0, "red\nred\n")
    record = answer(regard, "ask", home / "run", blue, WHICH)
    assert (record["picture"], record["question"], record["answer"]) == (str(blue), WHICH, "blue")
    assert next(iter(record["scores"])) == "blue"
    monkeypatch.setattr("sys.stdin", typed(f"{blue}\t{WHICH}\n\n{red}\t{WHICH}\n"))
    code, out, _ = regard("ask", home / "run", "--scores")
    assert code == 0
    assert [line.split("\t")[0] for line in out.split("\n")[:3]] == ["blue", "", "red"]


def test_it_is_judged_as_a_whole_and_by_kinds_of_questions(home: Path, regard: Say) -> None:
    test = home / "test" / "questions.tsv"
    scores = answer(regard, "evaluate", home / "run", "--data", test)
    assert scores["questions"] == 72
    assert scores["kinds"]["what colour"] == {"accuracy": 1.0, "questions": 24}
    share = (24 + 48 * scores["kinds"]["is it"]["accuracy"]) / 72
    assert scores["accuracy"] == pytest.approx(share)
    assert "begins" in regard("evaluate", home / "run", "--data", test)[1]


def test_kinds_of_questions_are_the_most_frequent_first() -> None:
    right, chances = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], dtype=np.float32)
    found = AskedScores(("no", "yes"), right, chances, "questions", ("Is it red?", "what is it", "is  it blue"))
    assert found.kinds == {"is it": (1.0, 2), "what is": (0.0, 1)}


# --- training ---------------------------------------------------------------------------------------------------------


def test_a_picture_is_stored_once_however_much_is_asked_about_it(home: Path) -> None:
    run, task = Run(home / "run"), read_recipe(Run(home / "run")).task
    pictures, rows = Store.open(run.path / PICTURES), Store.open(run.path / "tokens")
    assert (len(pictures), len(rows)) == (24, 72)
    opened = task.open(run.path, lambda text: None)
    for index, example in enumerate(task.train.open()):
        ((pixels, tokens),) = opened.rows(np.array([index]))
        expected = opened.source.rows([opened.source.of(example)])[0][0]
        assert np.array_equal(pixels, expected[0])
        assert tokens.tolist() == list(expected[1])
        assert opened.outcome.names[int(opened.marks[index][0])] == example.answer


def test_what_is_asked_about_one_picture_is_one_picture_to_the_model(home: Path) -> None:
    run = Run(home / "run")
    task = read_recipe(run).task.open(run.path, lambda text: None)
    model = read_recipe(run).model.build()
    pictures, tokens, keep, which = task.learning(model, task.rows(np.array([0, 24, 1, 25, 48])))
    assert (len(pictures), len(tokens)) == (2, 5)
    assert which.tolist() == [0, 0, 1, 1, 0]
    assert keep is None or keep.shape == tokens.shape


def test_batches_are_of_whole_pictures() -> None:
    numbers = np.array([0, 1, 0, 2, 0, 2, 0, 1, 0])  # five about the first, two about the others
    batches = BatchesOfPictures(numbers, budget=4, seed=1)
    for epoch in range(3):
        found = batches.epoch(epoch)
        assert sorted(np.concatenate(found).tolist()) == list(range(9))
        assert max(map(len, found)) <= 4
        assert sum(len(set(numbers[batch])) for batch in found) == 4  # the first alone is parted, in two
    assert batches.padding() == 0


def test_a_resumed_training_equals_one_that_was_not_stopped(home: Path, tmp_path: Path) -> None:
    words = ["train", "ask", *data(home), *MODEL, *TRAINING, "--flip", 0.5, "--crop", "shift"]
    words += ["--validate-every", 10, "--max-steps", 20, "--processes", 1]
    perform(*words, "--run", tmp_path / "whole")
    perform(*words, "--run", tmp_path / "cut")
    cut = Run(tmp_path / "cut")
    shutil.rmtree(cut.checkpoint(20))
    perform("train", "ask", "--run", cut.path, "--resume")
    one, other = (read_tensors(Run(tmp_path / name).checkpoint(20) / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_its_reader_of_pictures_is_what_others_begin_from(home: Path, tmp_path: Path) -> None:
    words = ["train", "ask", *data(home), "--from", home / "run", "--frozen"]
    perform(*words, "--run", tmp_path / "run", "--max-steps", 2, "--validate-every", 2)
    before, after = (read_tensors(path / "model.safetensors") for path in (home / "run", tmp_path / "run"))
    shared = [name for name in before if name.startswith("reader.")]
    assert shared
    assert all(torch.equal(before[name], after[name]) for name in shared)
    with pytest.raises(ConfigError, match="reads no pictures; begin from one that does"):
        Asking().around(Encoder(vocabulary=9))


def test_the_report_and_samples_name_picture_and_question(home: Path) -> None:
    lines = (home / "run" / "metrics.jsonl").read_text().splitlines()
    samples = [json.loads(line)["samples"] for line in lines if json.loads(line)["event"] == "validation"]
    assert samples[-1][0]["source"].endswith(f".png | {WHICH}")
    assert "questions a second" in (home / "run" / "report.html").read_text()


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a.png\n", "question 1: a picture, a tab and a question about it are needed: 'a.png'"),
        ("\twhat?\n", "question 1: a picture, a tab and a question about it are needed"),
        ("a.png\t \n", "question 1, about a.png, is empty: ask something"),
        ("none.png\twhat?\n", "none.png does not exist"),
    ],
)
def test_lines_that_ask_nothing_are_refused(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, lines: str, message: str
) -> None:
    monkeypatch.setattr("sys.stdin", typed(lines))
    code, _, err = regard("ask", home / "run")
    assert code == 2
    assert message in err


def test_a_picture_needs_a_question_and_a_question_a_run_of_this_kind(home: Path, regard: Say, tmp_path: Path) -> None:
    code, _, err = regard("ask", home / "run", shown(home, "red"))
    assert code == 2
    assert "red-0.png? Write the question behind it, in quotation marks" in err
    texts = tmp_path / "texts.tsv"
    texts.write_text("a good day\tgood\na bad day\tbad\n" * 4)
    small = ("--width", 8, "--hidden", 8, "--max-steps", 1, "--validate-every", 1)
    perform("train", "classify", "--train", texts, "--valid", texts, "--run", tmp_path / "run", *small)
    code, _, err = regard("ask", tmp_path / "run", shown(home, "red"), WHICH)
    assert code == 2
    assert "was trained for the task 'classify', not to answer questions about pictures" in err
    assert "not to classify" in regard("classify", home / "run", "a text")[2]
    assert "seen by regard.watch alone" in regard("look", home / "run", "a text")[2]


def test_the_tool_refuses_what_it_cannot_read(home: Path) -> None:
    asker = library.load(home / "run")
    with pytest.raises(DataError, match=r"question 1, about picture 1, is empty"):
        asker(painting("red", 1), " ")
    with pytest.raises(DataError, match="question 1 is 7, not a text"):
        asker(painting("red", 1), [7])
    with pytest.raises(DataError, match="it takes a file, or pixels"):
        asker(np.zeros((3, 3)), WHICH)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("red-0.png\tis it pink?\tperhaps", "has the label 'perhaps', which no training question has"),
        ("red-0.png\t\tyes", "a question and its answer belong to a picture; one of them is empty"),
        ("pink.png\tis it pink?\tyes", "the picture pink.png is neither in"),
    ],
)
def test_a_table_is_refused_by_its_line(home: Path, regard: Say, tmp_path: Path, line: str, message: str) -> None:
    shutil.copytree(home / "valid", tmp_path / "valid")
    table = tmp_path / "valid" / "questions.tsv"
    table.write_text(f"{table.read_text()}{line}\n")
    words = ["--train", home / "train" / "questions.tsv", "--valid", table]
    code, _, err = regard("train", "ask", "--run", tmp_path / "run", *words, *MODEL)
    assert code == 2
    assert "line 74" in err
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "classifier"], "answers no questions about pictures; take a preset of one that does"),
        (["--preset", "xu-2016-ask", "--max-length", "40"], "the model reads questions of at most 32 tokens"),
        (["--columns", "picture,question"], "name three, the picture's, the question's and the answer's"),
    ],
)
def test_what_cannot_be_is_refused(home: Path, regard: Say, tmp_path: Path, words: list[str], message: str) -> None:
    code, _, err = regard("train", "ask", "--run", tmp_path / "run", *data(home), *words)
    assert code == 2
    assert message in err


def test_an_asker_gives_no_text_a_label(regard: Say, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    texts.write_text("a good day\tgood\na bad day\tbad\n" * 4)
    words = ["--train", texts, "--valid", texts, "--preset", "asker", "--run", tmp_path / "run"]
    assert "one of kind asker gives a text no label" in regard("train", "classify", *words)[2]


def test_a_long_question_is_read_as_far_as_it_may_be() -> None:
    tokenizer = Tokenizer.train(["what colour is it?"], "word", None, lambda text: None)
    side = PictureAndText(OnePicture(SIDE, "stretch"), tokenizer, 3)
    picture = MadePicture("one", lambda: painting("red", 1))
    rows, cut = side.rows([(picture, WHICH), (picture, "what is")])
    assert cut == 1
    assert [len(tokens) for _, tokens in rows] == [3, 2]
    assert rows[0][0] is rows[1][0]
    example = AskedPicture(picture, WHICH, "red")
    assert side.texts(side.of(example)) == ("one", WHICH)
    assert example.label == "red"
