"""Taggers with the same commands: trained on either form of file, resumed, used, scored, reported."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.data.catalogue import open_data
from regard.data.examples import TaggedData
from regard.data.spelt import spelt
from regard.data.tagged import Tagged
from regard.data.tokenizers import Kind, Tokenizer
from regard.errors import DataError
from regard.runfolder import Run
from regard.tasks.tagging.tagger import WordTagger
from regard.tasks.tagging.task import Tagging
from regard.training.session import resume
from tests.conftest import Say, answer
from tests.tagged_toy import SMALL, tagged, write_tagged
from tests.toy import losses, perform

SHORT = ["--max-steps", "40", "--validate-every", "10", "--keep-checkpoints", "9"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, and a run that learnt them."""
    folder = tmp_path_factory.mktemp("tagged")
    write_tagged(folder / "train.tsv", 500, 0)
    write_tagged(folder / "valid.jsonl", 40, 1)
    write_tagged(folder / "test.tsv", 60, 2)
    words = ["train", "tag", "--run", folder / "run", *data(folder), *SMALL]
    perform(*words, "--max-steps", "200", "--validate-every", "100")
    return folder


def data(folder: Path) -> list[str]:
    return ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.jsonl")]


def test_a_tagger_learns_tags_that_the_next_word_tells(folder: Path) -> None:
    tagger = library.load(folder / "run")
    assert isinstance(tagger, WordTagger)
    right = [
        pair == gold
        for one in tagged(60, seed=9)
        for pair, gold in zip(tagger(" ".join(one.words)), zip(one.words, one.tags, strict=True), strict=True)
    ]
    assert sum(right) > 0.97 * len(right)
    assert tagger(["un deux", "", "six"])[1:] == [[], [("six", "LAST")]]


def test_it_is_scored_by_tag(folder: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", folder / "run", "--data", folder / "test.tsv")
    assert result["accuracy"] > 0.97
    assert set(result["tags"]) == {"UP", "DOWN", "LAST"}
    assert result["words"] == sum(one["words"] for one in result["tags"].values())
    assert result["tags"]["LAST"]["words"] == result["sentences"] == 60
    assert result["intervals"]["accuracy"][0] <= result["accuracy"] <= result["intervals"]["accuracy"][1]
    assert 0 <= result["calibration_error"] < 0.2
    code, out, _ = regard("evaluate", folder / "run", "--data", folder / "test.tsv")
    assert code == 0
    assert "macro-F1" in out
    assert "LAST" in out


def test_the_command_tags_arguments_and_lines(folder: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    assert regard("tag", folder / "run", "deux un", "six")[:2] == (0, "deux/UP un/LAST\nsix/LAST\n")
    assert answer(regard, "tag", folder / "run", "deux un") == {"words": ["deux", "un"], "tags": ["UP", "LAST"]}
    for more, words in (([], ["un-six", "l'", "un"]), (["--words"], ["un-six", "l'un"])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"deux un\n\nun-six l'un\n")))
        code, out, _ = regard("tag", folder / "run", *more)
        assert code == 0
        first, empty, last = out.splitlines()
        assert (first, empty) == ("deux/UP un/LAST", "")
        assert [pair.rpartition("/")[0] for pair in last.split()] == words


def test_the_report_shows_scores_by_tag(folder: Path) -> None:
    report = (folder / "run" / "report.html").read_text()
    assert "Scores by tag" in report
    assert re.search(r"regard train tag --config \S+/recipe\.yaml --run \S+-again", report)


def test_a_resumed_run_goes_on_to_the_same_losses(folder: Path, tmp_path: Path, regard: Say) -> None:
    import shutil

    runs = [Run(tmp_path / name) for name in ("whole", "cut")]
    for run in runs:
        assert regard("train", "tag", "--run", run.path, *data(folder), *SMALL, *SHORT)[0] == 0
    for step in (30, 40):
        shutil.rmtree(runs[1].checkpoint(step))
    resume(runs[1])
    assert losses(runs[0]) == losses(runs[1])


def test_a_trained_tagger_can_be_begun_from(folder: Path, tmp_path: Path, regard: Say) -> None:
    words = ["train", "tag", "--run", tmp_path / "run", *data(folder), "--from", folder / "run", *SHORT]
    code, _, err = regard(*words, "--max-steps", "10")
    assert code == 0, err
    tokenizers = [Tokenizer.load(path / "tokenizer.json") for path in (folder / "run", tmp_path / "run")]
    assert tokenizers[0] == tokenizers[1]


# --- words and pieces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "word", "char", "byte"])
@pytest.mark.parametrize("languages", ["en-fr", "fr-en"])
def test_a_words_first_piece_is_found_with_any_tokenizer(kind: Kind, languages: str) -> None:
    sentences = [example.words for example in open_data("phrasebook", languages, "train", 200, "tagged")]
    tokenizer = Tokenizer.train([" ".join(words) for words in sentences], kind)
    for words in [*sentences[:100], ("日本語", "…", "naïve", "🙂", "x")]:
        pieces = spelt(tokenizer, words)
        assert len(pieces.firsts) == len(words)
        assert pieces.firsts == sorted(set(pieces.firsts))
        assert pieces.firsts[0] == 0
        assert pieces.ids == tokenizer.encode([" ".join(words)])[0]
        if words in sentences:
            ends = [*pieces.firsts[1:], len(pieces.ids)]
            texts = [tokenizer.decode(pieces.ids[a:b]) for a, b in zip(pieces.firsts, ends, strict=True)]
            if kind not in ("word", "wordpiece"):  # which lose the spacing
                assert [text.strip() for text in texts] == list(words)


def test_a_sentence_too_long_for_the_model_is_tagged_in_parts(folder: Path) -> None:
    whole = library.load(folder / "run")
    short = WordTagger(whole.model, whole.tokenizer, whole.names, max_length=7)
    words = ["deux", "un", "trois"] * 5
    found = short.tags([words, ["un"], []])
    assert [len(tags) for tags in found] == [15, 1, 0]
    assert found[0][:3] == whole.tags([["deux", "un", "trois"]])[0]
    assert short.tags([["un" * 50]]) == [[short.tags([["un" * 50]])[0][0]]]


def test_rare_tags_count_as_much_where_it_is_balanced(folder: Path, tmp_path: Path) -> None:
    where, model = TaggedData(file=str(folder / "train.tsv")), library.load(folder / "run").model
    task = Tagging(train=where, valid=where, balanced=True).open(tmp_path / "run", print)
    plain = Tagging(train=where, valid=where).open(tmp_path / "plain", print)
    counts = Counter(tag for one in tagged(500, 0) for tag in one.tags)
    assert task.weights is not None
    for name, weight in zip(task.names, task.weights.tolist(), strict=True):
        assert weight == pytest.approx(counts.total() / (3 * counts[name]))
    indices = np.arange(20)
    (weighed, count), (even, other) = task.loss(model, indices), plain.loss(model, indices)
    assert count == other
    assert weighed != even
    task.weights = torch.ones(3)
    torch.testing.assert_close(task.loss(model, indices)[0], even)


def test_batches_change_nothing(folder: Path) -> None:
    tagger = library.load(folder / "run")
    sentences = [one.words for one in tagged(30, seed=5)]
    together, alone = tagger.scores(sentences, 16), tagger.scores(sentences, 1)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_tags_that_training_never_has_count_as_wrong_and_are_told(folder: Path, tmp_path: Path) -> None:
    valid = tmp_path / "valid.tsv"
    valid.write_text("un\tNEW\ndeux\tLAST\n")
    config = Tagging(train=TaggedData(file=str(folder / "train.tsv")), valid=TaggedData(file=str(valid)))
    said: list[str] = []
    task = config.open(tmp_path / "run", said.append)
    assert any("1 validation words have tags that training never has (NEW)" in text for text in said)
    tagger = library.load(folder / "run")
    result = task.validate(tagger.model.eval())
    assert result.metrics["accuracy"] == 0.5


def test_long_training_sentences_are_dropped_and_counted(folder: Path, tmp_path: Path) -> None:
    where = TaggedData(file=str(folder / "train.tsv"))
    said: list[str] = []
    task = Tagging(train=where, valid=where, max_length=5).open(tmp_path / "run", said.append)
    assert len(task.store) < 500
    assert any("training sentences of more than 5 tokens were dropped" in text for text in said)
    with pytest.raises(DataError, match="no training sentence is within 3 tokens"):
        Tagging(train=where, valid=where, max_length=3).open(tmp_path / "other", said.append)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "gpt2"], "gives words no tags"),
        (["--train", "none.tsv"], "none.tsv does not exist"),
        (["--data", "multi30k"], "multi30k has no tagged examples; those that have: phrasebook"),
        (["--columns", "a"], "name two, the words' and the tags'"),
    ],
)
def test_a_mistake_is_one_sentence(folder: Path, regard: Say, tmp_path: Path, words: list[str], message: str) -> None:
    given = [] if "--data" in words else data(folder)
    code, _, err = regard("train", "tag", "--run", tmp_path / "run", *given, *words)
    assert code == 2
    assert message in err
    assert not (tmp_path / "run").exists()


def test_a_run_of_another_task_is_refused(folder: Path, toy, regard: Say) -> None:  # type: ignore[no-untyped-def]
    code, _, err = regard("tag", toy.good, "un deux")
    assert code == 2
    assert "not to tag" in err
    assert regard("tag", folder / "run", "un", "--beam", "3")[0] == 2
    code, _, err = regard("tag", folder / "run", "un \udcff")
    assert code == 2
    assert "not valid UTF-8" in err
    code, _, err = regard("evaluate", folder / "run")
    assert code == 2
    assert "give --data" in err


def test_the_phrasebook_has_gold_tags_in_either_language() -> None:
    english, french = (
        list(open_data("phrasebook", languages, "test", 50, "tagged")) for languages in ("en-fr", "fr-en")
    )
    pairs = list(open_data("phrasebook", "en-fr", "test", 50))
    assert english == [Tagged(pair.source_words, pair.source_tags) for pair in pairs]
    assert french == [Tagged(pair.target_words, pair.target_tags) for pair in pairs]
    assert all(len(one.words) == len(one.tags) for one in english + french)
