"""What can be wrong with the data of tasks on texts: one sentence that says what, exit code 2, and no run is left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from regard.checkpoint import read_tensors, write_tensors
from regard.data.tokenizers import Tokenizer
from tests.conftest import Say
from tests.documents import QUICK, TINY, write_texts

SHORT = ["--max-steps", "2", "--validate-every", "2"]
LONG = "the cat purrs and climbs " * 20


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder to begin from, with a table of positions: what it can read has an end."""
    from regard.cli import main

    folder = tmp_path_factory.mktemp("bert")
    write_texts(folder / "text.txt", 60, 0)
    words = ["pretrain", "mlm", "--train", str(folder / "text.txt"), "--run", str(folder / "run"), *TINY, *QUICK]
    assert main([*words, "--preset", "bert-mini", *SHORT]) == 0
    return folder / "run"


def squad(answers: list[dict[str, object]], context: str = "anna lives in rome") -> str:
    qas = [{"id": "q1", "question": "where does anna live", "answers": answers}]
    return json.dumps({"data": [{"paragraphs": [{"context": context, "qas": qas}]}]})


def write(folder: Path, train: str, valid: str, ending: str) -> list[object]:
    files: list[object] = []
    for name, text in (("train", train), ("valid", valid)):
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
        files += [f"--{name}", folder / f"{name}.{ending}"]
    return files


TWO = "a film\tgood\nanother\tbad\n"
PAIR = "a\tb\tyes\nc\td\tno\n"
ASKED = '{"question": "who", "context": "anna"}\n'
ROME = squad([{"text": "rome", "answer_start": 14}])


@pytest.mark.parametrize(
    ("task", "ending", "train", "valid", "message"),
    [
        # labels unseen in training
        (
            "classify",
            "tsv",
            TWO,
            "a film\tgod\n",
            "has the label 'god', which no training text has: did you mean 'good'?",
        ),
        ("pair", "tsv", PAIR, "a\tb\tmaybe\n", "has the label 'maybe', which no training text has"),
        # a label column missing
        ("classify", "tsv", "a film\n", TWO, "line 1: no tab between text and label"),
        ("classify", "csv", "text,lable\na,b\n", "text,label\na,b\n", "no column 'label': did you mean 'lable'?"),
        ("classify", "jsonl", '{"text": "a"}\n', '{"text": "a"}\n', "line 1: no column 'label'"),
        ("pair", "csv", "sentence1,sentence2\na,b\n", PAIR, "no column 'text_a'"),
        ("tag", "tsv", "cat\n", "cat\tNOUN\n", "line 1: 1 cells between spaces; it takes a word and its tag"),
        ("tag", "jsonl", '{"words": ["a"]}\n', '{"words": ["a"], "tags": ["X"]}\n', "line 1: no column 'tags'"),
        ("answer", "jsonl", ASKED, ASKED, "line 1: no column 'answers'"),
        ("similar", "csv", "text_a\na\n", "text_a,text_b\na,b\n", "no column 'text_b'"),
        # sentences where labels should be, as in the test files of GLUE
        (
            "classify",
            "tsv",
            "index\tsentence\n" + "".join(f"{i}\tText number {i}.\n" for i in range(200)),
            "0\tText number 0.\n",
            "201 training texts have 201 labels, such as 'sentence': is the label another column? (--columns)",
        ),
        # spans outside the text
        (
            "answer",
            "json",
            squad([{"text": "rome", "answer_start": 99}]),
            ROME,
            "question q1: the answer 'rome' does not",
        ),
        (
            "answer",
            "json",
            ROME,
            squad([{"text": "rome", "answer_start": 2}]),
            "question q1: the answer 'rome' does not",
        ),
        # one class alone
        ("classify", "tsv", "a\tgood\nb\tgood\n", TWO, "all training texts have the label 'good'"),
        ("pair", "tsv", "a\tb\tyes\n", PAIR, "all training texts have the label 'yes'"),
        ("similar", "tsv", "a\tb\t1\nc\td\t1\n", "a\tb\t1\nc\td\t2\n", "all training pairs have the score 1"),
        ("tag", "tsv", "cat\tO\ndog\tO\n", "cat\tO\n", "all training words have the tag 'O'"),
        ("answer", "json", squad([]), ROME, "no training question has an answer"),
        # a header with names of its own
        (
            "classify",
            "tsv",
            f"review\tstars\n{TWO * 2}",
            TWO,
            "if this line names the columns, say which ones hold what",
        ),
    ],
)
def test_data_that_cannot_be_learnt_is_refused_and_leaves_no_run(
    tmp_path: Path, regard: Say, task: str, ending: str, train: str, valid: str, message: str
) -> None:
    files = write(tmp_path, train, valid, ending)
    code, out, err = regard("train", task, *files, "--run", tmp_path / "run", *SHORT)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--tokenizer", "bpe"], "task.tokenizer bpe: {} decides it"),
        (["--pieces", "300"], "task.pieces 300: {} decides it"),
        (["--heads", "1"], "attention.heads 1: {} decides it"),
        (["--layers", "4"], "model.reader.encoder.layers 4: {} decides it"),
        (["--max-length", "2"], "max_length 2 holds no text; it takes at least 3 tokens"),
    ],
)
def test_what_a_trained_encoder_is_bound_to_cannot_be_changed(
    bert: Path, tmp_path: Path, regard: Say, more: list[str], message: str
) -> None:
    begin = ["--from", bert, "--run", tmp_path / "run"]
    code, _, err = regard("train", "classify", *write(tmp_path, TWO, TWO, "tsv"), *begin, *SHORT, *more)
    assert (code, err.count("\n")) == (2, 1)
    assert message.format(bert) in err
    assert not (tmp_path / "run").exists()


def test_a_model_without_a_task_says_what_to_do_with_it(bert: Path, tmp_path: Path, regard: Say) -> None:
    shutil.copytree(bert, tmp_path / "bare")
    config = json.loads((bert / "config.json").read_text())
    (tmp_path / "bare" / "config.json").write_text(json.dumps({k: v for k, v in config.items() if k != "task"}))
    code, _, err = regard("classify", tmp_path / "bare", "a film")
    assert code == 2
    assert "holds a model without a task, which cannot classify yet; let one begin from it: regard train TASK" in err


def test_a_class_that_nearly_all_texts_have_is_told_unless_classes_are_weighed(tmp_path: Path, regard: Say) -> None:
    files = write(tmp_path, "a film\tgood\n" * 95 + "another\tbad\n" * 5, "a film\tgood\n" * 3, "tsv")
    code, _, err = regard("train", "classify", *files, "--run", tmp_path / "run", *SHORT)
    assert code == 0
    assert "95.0% of the training texts have the label 'good': always giving it is as accurate; --balanced" in err
    assert "all validation texts have the label 'good': what is right of others cannot be seen" in err
    code, _, err = regard("train", "classify", *files, "--run", tmp_path / "other", *SHORT, "--balanced")
    assert (code, "95.0%" in err) == (0, False)


# --- beyond the limit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "ending", "text", "told"),
    [
        (
            "classify",
            "tsv",
            f"{LONG}\tgood\nthe dog\tbad\n",
            "1 of 2 training texts have more than 16 tokens and are read",
        ),
        (
            "pair",
            "tsv",
            f"{LONG}\tthe cat\tyes\nthe dog\tit digs\tno\n",
            "1 of 2 training pairs have more than 16 tokens",
        ),
        (
            "tag",
            "tsv",
            "cat\tN\n" * 30 + "\ndog\tN\nruns\tV\n",
            "1 training sentences of more than 16 tokens were dropped",
        ),
        (
            "similar",
            "tsv",
            f"{LONG}\tthe cat\nthe dog\tit digs\n",
            "1 texts of 2 training pairs have more than 16 tokens",
        ),
    ],
)
def test_what_is_too_long_is_cut_and_counted(
    bert: Path, tmp_path: Path, regard: Say, task: str, ending: str, text: str, told: str
) -> None:
    files = write(tmp_path, text, text, ending)
    begin = ["--from", bert, "--max-length", "16", "--batch-tokens", "400"]
    code, _, err = regard("train", task, *files, *begin, "--run", tmp_path / "run", *SHORT)
    assert code == 0, err
    assert told in err
    code, _, err = regard("train", task, *files, *begin, "--max-length", "900", "--run", tmp_path / "other", *SHORT)
    assert (code, "max_length 900: the model reads at most 512 tokens" in err) == (2, True)


def test_a_long_text_is_cut_and_counted_when_it_is_classified(bert: Path, tmp_path: Path, regard: Say) -> None:
    files = write(tmp_path, "the cat\tgood\nthe dog\tbad\n", "the cat\tgood\n", "tsv")
    begin = ["--from", bert, "--max-length", "16"]
    assert regard("train", "classify", *files, *begin, "--run", tmp_path / "run", *SHORT)[0] == 0
    code, out, err = regard("classify", tmp_path / "run", "the cat", LONG)
    assert (code, len(out.splitlines())) == (0, 2)
    assert "1 of 2 texts have more than 16 tokens and were read up to there" in err


def test_a_long_text_is_answered_in_windows(bert: Path, tmp_path: Path, regard: Say) -> None:
    context = f"{LONG}anna lives in rome"
    text = squad([{"text": "rome", "answer_start": context.index("rome")}], context)
    files = write(tmp_path, text, text, "json")
    begin = ["--from", bert, "--max-length", "40", "--stride", "10"]
    code, _, err = regard("train", "answer", *files, *begin, "--run", tmp_path / "run", *SHORT)
    assert code == 0, err
    assert int(err.partition(" training examples")[0].rpartition("\n")[2]) > 5
    assert regard("evaluate", tmp_path / "run", "--data", tmp_path / "valid.json")[0] == 0


# --- tokenizer and weights --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["other", "same"])
def test_a_tokenizer_that_does_not_belong_to_the_weights_is_refused(
    bert: Path, tmp_path: Path, regard: Say, size: str
) -> None:
    run = Path(shutil.copytree(bert, tmp_path / "copy", ignore=shutil.ignore_patterns("checkpoints", "tokens")))
    vocabulary = Tokenizer.load(run / "tokenizer.json").vocabulary
    words = [f"w{i}" for i in range(vocabulary * 2)]
    other = Tokenizer.train([" ".join(words)], "word", vocabulary if size == "same" else vocabulary - 3)
    assert (other.vocabulary == vocabulary) == (size == "same")
    other.save(run / "tokenizer.json")
    if size == "other":
        config = json.loads((run / "config.json").read_text())
        del config["tokenizer"]  # as a run of an older version
        (run / "config.json").write_text(json.dumps(config))
    message = "they do not belong together" if size == "other" else "it belongs to another run"
    files = write(tmp_path, TWO, TWO, "tsv")
    for words_ in (["train", "classify", *files, "--from", run, "--run", tmp_path / "run"], ["embed", run, "a text"]):
        code, out, err = regard(*words_)
        assert (code, out) == (2, "")
        assert message in err
    assert not (tmp_path / "run").exists()


def test_weights_that_are_no_numbers_are_refused_where_a_run_would_begin_from_them(
    bert: Path, tmp_path: Path, regard: Say
) -> None:
    run = Path(shutil.copytree(bert, tmp_path / "copy", ignore=shutil.ignore_patterns("checkpoints", "tokens")))
    weights = read_tensors(run / "model.safetensors")
    weights["embedding.tokens.weight"][0, 0] = torch.nan
    write_tensors(run / "model.safetensors", weights)
    words = ["train", "classify", *write(tmp_path, TWO, TWO, "tsv"), "--from", run, "--run", tmp_path / "run", *SHORT]
    code, out, err = regard(*words)
    assert (code, out) == (2, "")
    assert f"{run / 'model.safetensors'}: embedding.tokens.weight: there are values that are infinite" in err
    assert not (tmp_path / "run").exists()


# --- labels and weights -----------------------------------------------------------------------------------------------


TAGS = "the\tD\ncat\tN\npurrs\tV\n\nthe\tD\ndog\tN\nbarks\tV\n"


def trained(folder: Path, regard: Say, task: str, text: str) -> Path:
    """A run of two steps, and the file that it learnt from as valid.tsv."""
    run = folder / "trained"
    code, _, err = regard("train", task, *write(folder, text, text, "tsv"), "--run", run, *SHORT)
    assert code == 0, err
    return run


@pytest.mark.parametrize(
    ("task", "text", "count", "asked"),
    [("tag", TAGS, 3, ["the cat"]), ("classify", TWO, 2, ["a film"]), ("pair", PAIR, 2, ["a", "b"])],
)
def test_names_that_do_not_fit_the_weights_are_refused(
    tmp_path: Path, regard: Say, task: str, text: str, count: int, asked: list[str]
) -> None:
    run = trained(tmp_path, regard, task, text)
    for names in (["O"], [f"name {i}" for i in range(count + 1)]):
        (run / "labels.json").write_text(json.dumps(names))
        for words in ([task, run, *asked], ["evaluate", run, "--data", tmp_path / "valid.tsv"]):
            code, out, err = regard(*words)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert f"{run / 'labels.json'} has {len(names)} labels, the model {count}: they do not belong" in err


def test_tags_that_were_never_trained_are_told_when_a_tagger_is_scored(tmp_path: Path, regard: Say) -> None:
    run, data = trained(tmp_path, regard, "tag", TAGS), tmp_path / "other.tsv"
    code, _, err = regard("evaluate", run, "--data", tmp_path / "valid.tsv")
    assert (code, "training never had" in err) == (0, False)
    data.write_text(TAGS + "\nit\tPRON\nis\tAUX\nit\tPRON\n")
    code, out, err = regard("evaluate", run, "--data", data, "--json")
    assert (code, json.loads(out)["words"]) == (0, 9)
    assert "3 words have tags that training never had (AUX, PRON): they count as wrong" in err
    data.write_text("it\tPRON\nis\tAUX\n")
    code, out, err = regard("evaluate", run, "--data", data)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{data}: {run} was trained on none of its tags (AUX, PRON), but on D, N, V" in err


# --- options of a run to begin from -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [["--frozen"], ["--frozen-layers", "1"], ["--layer-decay", "0.9"], ["--rank", "2"], ["--fresh"]], ids=str
)
def test_what_is_for_trained_weights_needs_a_run_to_begin_from(tmp_path: Path, regard: Say, more: list[str]) -> None:
    words = ["train", "classify", *write(tmp_path, TWO, TWO, "tsv"), "--run", tmp_path / "run", *SHORT, *more]
    code, out, err = regard(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    name = more[0][2:].replace("-", "_")
    assert f"option {name!r} is for weights that come from a trained run: it needs --from RUN" in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("more", [["--frozen-layers", "1"], ["--layer-decay", "0.9"]], ids=str)
def test_what_stays_whole_has_no_layers_to_keep_or_to_slow_down(
    bert: Path, tmp_path: Path, regard: Say, more: list[str]
) -> None:
    begin = ["--from", bert, "--run", tmp_path / "run", "--frozen"]
    code, _, err = regard("train", "classify", *write(tmp_path, TWO, TWO, "tsv"), *begin, *SHORT, *more)
    assert (code, err.count("\n")) == (2, 1)
    assert "all that comes from the run stays as it is; leave frozen_layers and layer_decay out" in err
    assert not (tmp_path / "run").exists()


def test_pre_training_begins_from_nothing_so_that_no_run_is_asked_for(tmp_path: Path, regard: Say) -> None:
    text = write_texts(tmp_path / "text.txt", 60, 0)
    code, _, err = regard("pretrain", "mlm", "--train", text, "--run", tmp_path / "run", "--layer-decay", "0.9")
    assert (code, "--from" in err) == (2, False)
    assert "unknown option 'layer_decay': did you mean" in err
