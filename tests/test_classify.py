"""Classifiers from the command line and in Python: trained, used, scored and looked at with the same commands."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import regard as library
from regard.checkpoint import read_tensors
from regard.look import Look
from regard.runfolder import Run
from regard.tasks.judging.judge import TextClassifier
from regard.training.records import read_records
from tests.conftest import Say, answer
from tests.reviews import MODEL, TRAINING, VERDICTS, reviews, write_reviews
from tests.toy import perform

PRESETS = ("classifier", "han-2016")
every_run = pytest.mark.parametrize("preset", PRESETS)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.tsv, valid.tsv and test.tsv, and a run of each preset."""
    folder = tmp_path_factory.mktemp("reviews")
    for seed, (name, count) in enumerate((("train", 300), ("valid", 60), ("test", 60))):
        write_reviews(folder / f"{name}.tsv", count, seed)
    data = ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.tsv")]
    for preset in PRESETS:
        words = ["train", "classify", "--preset", preset, "--run", str(folder / preset), *data, *MODEL, *TRAINING]
        perform(*words)
    return folder


@every_run
def test_it_learns_and_names_its_labels(home: Path, preset: str) -> None:
    classifier = library.load(home / preset)
    assert isinstance(classifier, TextClassifier)
    assert classifier.labels == ("bad", "good", "odd")
    texts, labels = zip(*reviews(60, 9), strict=True)
    assert sum(one == other for one, other in zip(classifier(texts), labels, strict=True)) >= 57
    assert classifier("It is a lovely one.") == "good"


@every_run
def test_scores_are_probabilities_from_the_likeliest_on(home: Path, preset: str) -> None:
    classifier = library.load(home / preset)
    scores = classifier.scores("It is a dull one.")
    assert next(iter(scores)) == "bad"
    assert sum(scores.values()) == pytest.approx(1, abs=1e-5)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    many = classifier.scores(["It is a dull one.", "A dog runs. " * 40 + "It is a fine one."])
    assert many[0] == pytest.approx(scores, abs=1e-5)


@every_run
def test_the_word_that_decides_is_attended_to_most(home: Path, preset: str) -> None:
    classifier = library.load(home / preset)
    look = classifier.look("The film is long. It is an awful one. A dog runs.")
    assert look.verdicts[0].label == "bad"
    words = [word for word, _ in look.salient()]
    assert "awful" in words[:2]
    assert sum(share for _, share in look.salient()) == pytest.approx(1, abs=0.25)  # the end of a sentence has a share
    again = Look.from_bytes(look.to_bytes())
    assert again.verdicts == look.verdicts
    assert again.salient()[0][0] == look.salient()[0][0]


def test_a_look_shows_the_sentences_of_a_hierarchical_model(home: Path) -> None:
    look = library.load(home / "han-2016").look("The film is long. It is an awful one.")
    assert [(layer.name, layer.rows, layer.columns) for layer in look.layers] == [
        ("pool.0.words", "sentences", "text"),
        ("pool.1.sentences", "label", "sentences"),
    ]
    assert look.sides["sentences"].tokens == ["The film is long.", "It is an awful one."]
    assert look.arrays["pool.1.sentences"][0, 0].argmax() == 1
    weights = look.map("pool.0.words", words=True)
    assert weights.columns[weights.weights[1].argmax()] == "awful"
    assert look.sides["text"].tokens.count("</s>") == 2


def test_the_command_line_classifies_texts_and_lines(home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    run = home / "classifier"
    assert regard("classify", run, "It is a dull one.", "It is a fine one.") == (0, "bad\ngood\n", "")
    code, out, _ = regard("classify", run, "--scores", "It is a dull one.")
    label, score = out.strip().split("\t")
    assert (code, label) == (0, "bad")
    assert 0.5 < float(score) <= 1
    lines = "It is a weird one.\n\nIt is a lovely one.\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert regard("classify", run)[1] == "odd\n\ngood\n"
    found = answer(regard, "classify", run, "It is a dull one.")
    assert found["label"] == "bad"
    assert set(found["scores"]) == set(VERDICTS)


@every_run
def test_evaluating_gives_accuracy_f1_each_class_and_the_confusion(home: Path, regard: Say, preset: str) -> None:
    result = answer(regard, "evaluate", home / preset, "--data", home / "test.tsv")
    assert result["texts"] == 60
    assert result["accuracy"] >= 0.95
    right = sum(row.get(label, 0) for label, row in result["confusion"].items())
    assert right / 60 == pytest.approx(result["accuracy"])
    assert sum(sum(row.values()) for row in result["confusion"].values()) == 60
    f1 = [one["f1"] for one in result["classes"].values()]
    assert result["macro_f1"] == pytest.approx(sum(f1) / 3)
    low, high = result["intervals"]["matthews"]
    assert 0.9 < low <= result["matthews"] <= high <= 1
    out = regard("evaluate", home / preset, "--data", home / "test.tsv")[1]
    assert "accuracy" in out
    assert "right ↓ found →" in out


def test_the_report_has_each_class_and_the_confusion(home: Path) -> None:
    report = (home / "han-2016" / "report.html").read_text(encoding="utf-8")
    for heading in ("Each label", "What was taken for what", "The surest mistakes"):
        assert heading in report


def test_looking_from_the_command_line_writes_one_page_that_asks_for_nothing(
    home: Path, regard: Say, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    code, out, _ = regard("look", home / "han-2016", "It is a dull one. A dog runs.", "--out", page)
    assert (code, out.strip()) == (0, str(page))
    text = page.read_text(encoding="utf-8")
    assert "http" not in text.replace("http-equiv", "")
    look = answer(regard, "look", home / "classifier", "It is a dull one.")
    assert look["family"] == "classifier"
    assert look["verdicts"][0]["label"] == "bad"
    assert "pool.0.words" in look["arrays"]


def test_switching_the_attention_off_says_what_it_changes(home: Path, regard: Say) -> None:
    words = ("look", home / "classifier", "It is a dull one.", "--without", "pool.0.words.0", "--json")
    code, out, err = regard(*words)
    look = json.loads(out)
    assert code == 0
    assert look["without"] == ["pool.0.words.0"]
    assert look["changes"]["before"] == "bad"
    assert "without pool.0.words.0" in err


def test_a_stopped_run_goes_on_to_the_same_weights(home: Path, regard: Say, tmp_path: Path) -> None:
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv", *MODEL, "--dropout", "0.2", "--forget", "0.1"]
    steps = ["--batch-texts", "16", "--validate-every", "10", "--max-steps", "20"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert regard("train", "classify", "--run", whole, *data, *steps)[0] == 0
    assert regard("train", "classify", "--run", parts, *data, *steps, "--max-minutes", "1e-6")[0] == 0
    config = json.loads((parts / "config.json").read_text(encoding="utf-8"))
    config["training"]["max_minutes"] = None
    (parts / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert Run(parts).checkpoints() == [1]
    (home / "train.tsv").rename(home / "away.tsv")  # a resumed run reads no training text again
    try:
        assert regard("train", "classify", "--run", parts, "--resume")[0] == 0
    finally:
        (home / "away.tsv").rename(home / "train.tsv")
    ends = [read_tensors(run / "checkpoints" / "step-20" / "model.safetensors") for run in (whole, parts)]
    for name, weight in ends[0].items():
        assert weight.equal(ends[1][name]), name


def test_a_long_text_is_cut_between_sentences_and_that_is_said(home: Path, regard: Say, tmp_path: Path) -> None:
    run = tmp_path / "short"
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv", *MODEL]
    code, _, err = regard(
        "train", "classify", "--run", run, *data, "--max-length", "12", "--max-steps", "1", "--validate-every", "1"
    )
    assert code == 0
    assert "training texts have more than 12 tokens and are read up to there" in err
    classifier = library.load(run)
    (row,), cut = classifier.source.rows(["A dog runs. A dog runs. It is a fine one."])
    assert (len(row), cut) == (10, 1)
    look = classifier.look("A dog runs. A dog runs. It is a fine one.")
    assert look.sides["text"].text == "A dog runs. A dog runs."
    assert look.unread == "It is a fine one."
    assert look.sides["text"].ids == row
    assert "1 of 1 texts have more than 12 tokens" in regard("classify", run, "A dog runs. " * 9)[2]
    err = regard("look", run, "A dog runs. A dog runs. It is a fine one.", "--out", tmp_path / "page.html")[2]
    assert "too long for the model: what follows is not read: It is a fine one." in err
    ((row,), _) = classifier.source.rows(["a " * 40])
    assert len(row) == 12


def test_rare_classes_can_count_as_much_as_frequent_ones(tmp_path: Path) -> None:
    import torch

    from regard.data.examples import LabelledData
    from regard.tasks.judging.classification import Classification

    path = tmp_path / "t.tsv"
    path.write_text("a b\tx\n" * 9 + "c d\ty\n", encoding="utf-8")
    data = LabelledData(file=str(path))
    task = Classification(train=data, valid=data, balanced=True).open(tmp_path / "run", print)
    assert task.outcome.weights is not None
    torch.testing.assert_close(task.outcome.weights, torch.tensor([10 / 18, 10 / 2]))
    torch.testing.assert_close(task.outcome.weights[task.numbers()].mean(), torch.tensor(1.0))


def test_texts_are_read_twice_where_both_readings_shall_agree(tmp_path: Path) -> None:
    import numpy as np

    from regard.data.examples import LabelledData
    from regard.models import Classifier
    from regard.tasks.judging.classification import Classification

    data = LabelledData(file=str(write_reviews(tmp_path / "t.tsv", 20, 0)))
    plain, twice = (
        Classification(train=data, valid=data, agreement=weight).open(tmp_path / str(weight), print)
        for weight in (0.0, 1e4)
    )
    model, indices = twice.fit(Classifier(pooled_dropout=0.5)).build(), np.arange(12)
    assert twice.loss(model.eval(), indices)[1] == plain.loss(model, indices)[1]
    assert twice.loss(model, indices)[0].item() == pytest.approx(plain.loss(model, indices)[0].item(), rel=1e-5)
    model.train()  # by other dropout the readings differ, and that costs
    assert twice.loss(model, indices)[0] > 2 * plain.loss(model.eval(), indices)[0]


def test_forgotten_words_become_unknown_and_ends_stay(tmp_path: Path) -> None:
    import torch

    from regard.data.examples import LabelledData
    from regard.data.tokenizers import END, UNKNOWN
    from regard.tasks.judging.classification import Classification

    path = write_reviews(tmp_path / "t.tsv", 20, 0)
    data = LabelledData(file=str(path))
    task = Classification(train=data, valid=data, forget=0.5).open(tmp_path / "run", print)
    tokens = torch.tensor([[5, 6, END] * 400])
    lost = task.forgotten(tokens)
    assert 0.4 < (lost == UNKNOWN).float().mean() * 3 / 2 < 0.6
    assert torch.equal(lost == END, tokens == END)


@pytest.mark.parametrize("frozen", [True, False])
def test_another_classifier_can_begin_from_a_run(home: Path, regard: Say, tmp_path: Path, frozen: bool) -> None:
    (tmp_path / "t.tsv").write_text("It is a fine one.\tyes\nIt is a dull one.\tno\n" * 20, encoding="utf-8")
    run, data = tmp_path / "run", ["--train", tmp_path / "t.tsv", "--valid", tmp_path / "t.tsv"]
    steps = ["--max-steps", "20", "--validate-every", "20", "--rate", "0.01", "--average", "none"]
    begin = ["--from", home / "classifier", *(["--frozen"] if frozen else [])]
    assert regard("train", "classify", "--run", run, *data, *begin, *steps)[0] == 0
    assert (run / "tokenizer.json").read_bytes() == (home / "classifier" / "tokenizer.json").read_bytes()
    before, after = (read_tensors(Run(one).weights_path) for one in (home / "classifier", run))
    readers = [name for name in before if name.startswith("reader.")]
    assert readers
    assert all(before[name].equal(after[name]) for name in readers) == frozen
    assert library.load(run)("It is a fine one.") == "yes"


# --- mistakes ---------------------------------------------------------------------------------------------------------


def complaint(answer: tuple[int, str, str]) -> str:
    code, out, err = answer
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return err.splitlines()[-1]


def test_one_label_alone_is_refused_and_leaves_nothing_behind(home: Path, regard: Say, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a fine film\tgood\nanother\tgood\n", encoding="utf-8")
    run = tmp_path / "run"
    answer = regard("train", "classify", "--run", run, "--train", tmp_path / "t.tsv", "--valid", home / "valid.tsv")
    assert "all training texts have the label 'good'; a classifier takes at least two labels" in complaint(answer)
    assert not run.exists()


def test_a_label_that_training_does_not_know_is_named(home: Path, regard: Say, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a fine film\tgood\nhm, well\tgod\n", encoding="utf-8")
    answer = regard("train", "classify", "--run", tmp_path / "run", "--train", home / "train.tsv", "--valid", path)
    told = f"{path}, line 2: the validation text 'hm, well' has the label 'god', which no training text has"
    assert told in complaint(answer)
    answer = regard("evaluate", home / "classifier", "--data", path)
    said = complaint(answer)
    assert "the test text 'hm, well' has the label 'god'" in said
    assert "did you mean 'good'?" in said


def test_there_is_nothing_to_look_at_in_an_empty_text(home: Path) -> None:
    classifier = library.load(home / "classifier")
    with pytest.raises(ValueError, match="the text is empty"):
        classifier.look(" ")
    assert classifier([]) == []


def test_a_model_or_run_for_something_else_is_refused(home: Path, regard: Say, tmp_path: Path, toy) -> None:  # type: ignore[no-untyped-def]
    data = ["--train", home / "train.tsv", "--valid", home / "valid.tsv"]
    answer = regard("train", "classify", "--run", tmp_path / "run", *data, "--preset", "gpt2")
    assert "model: one of kind decoder gives a text no label" in complaint(answer)
    assert "was trained for the task 'translate', not to classify" in complaint(regard("classify", toy.good, "a"))
    said = complaint(regard("translate", home / "classifier", "a"))
    assert "was trained for the task 'classify', not to translate" in said


@pytest.mark.parametrize("text", ["", "{", '["a", 1]'])
def test_damaged_labels_are_named(home: Path, regard: Say, tmp_path: Path, text: str) -> None:
    import shutil

    run = tmp_path / "run"
    shutil.copytree(home / "classifier", run)
    (run / "labels.json").write_text(text, encoding="utf-8")
    assert str(run / "labels.json") in complaint(regard("classify", run, "a"))
    (run / "labels.json").unlink()
    assert str(run / "labels.json") in complaint(regard("classify", run, "a"))


def test_options_that_mean_nothing_here_are_named(home: Path, regard: Say) -> None:
    assert "unknown option --beam" in complaint(regard("classify", home / "classifier", "--beam", "4", "a"))
    answer = regard("evaluate", home / "classifier", "--data", home / "test.tsv", "--against", home / "han-2016")
    assert "--against is for translators" in complaint(answer)
    answer = regard("look", home / "classifier", "a", "b")
    assert "a classifier reads one text" in complaint(answer)


def test_samples_and_metrics_are_recorded(home: Path) -> None:
    records = read_records(Run(home / "classifier").metrics_path)
    last = [record for record in records if record["event"] == "validation"][-1]
    assert list(last["metrics"]) == ["accuracy", "macro_f1", "matthews", "loss"]
    assert set(last["samples"][0]) == {"source", "output", "reference"}
