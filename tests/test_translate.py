"""A trained run at work: translations line for line, scores, alignments, evaluations, and the same from Python."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import regard as library
from regard.data.files import PairFile
from regard.data.store import Store
from regard.data.tokenizers import END, START
from regard.decoding import Decoding
from regard.models.padding import padded
from regard.tasks.writing.translation import load_translator
from regard.tasks.writing.translator import Translator
from tests.conftest import Say, answer
from tests.toy import LONGEST, MODEL, WORDS, Toy, diagonal, meaning, sentences, write_pairs


@pytest.fixture(scope="module")
def good(toy: Toy) -> Translator:
    return load_translator(toy.good)


@pytest.fixture(scope="module")
def poor(toy: Toy) -> Translator:
    """Unsure of itself, so that what is searched for and what is found first often differ."""
    return load_translator(toy.poor)


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    """What stands on standard input, line by line."""

    def put(lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in lines).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    return put


# --- lines ------------------------------------------------------------------------------------------------------------


def test_the_order_of_the_lines_is_kept(
    regard: Say, toy: Toy, poor: Translator, type_in: Callable[[list[str]], None]
) -> None:
    texts = sentences(40, seed=3)
    type_in(texts)
    code, out, err = regard("translate", toy.poor, "--batch", 7)
    assert (code, err) == (0, "")
    assert out.splitlines() == [poor(text) for text in texts]


def test_lines_beyond_what_is_read_at_once_keep_their_order(
    regard: Say, toy: Toy, monkeypatch: pytest.MonkeyPatch, type_in: Callable[[list[str]], None]
) -> None:
    monkeypatch.setattr("regard.cli.use.LINES_A_CHUNK", 4)
    texts = [text for one in sentences(9, seed=4) for text in (one, "")]
    type_in(texts)
    assert regard("translate", toy.good)[1].splitlines() == [meaning(text) for text in texts]


@pytest.mark.parametrize(
    "words",
    [
        ["un deux", "six trois", "--beam", "5", "--scores"],
        ["--beam", "5", "--scores", "un deux", "six trois"],
        ["--scores", "un deux", "--beam=5", "six trois"],
        ["--scores", "--", "un deux", "six trois"],
    ],
)
def test_sentences_stand_before_or_after_the_options(regard: Say, toy: Toy, words: list[str]) -> None:
    code, out, _ = regard("translate", toy.good, *words)
    assert code == 0
    assert [line.split("\t")[1] for line in out.splitlines()] == ["one two", "six three"]


def test_scores_stand_before_a_tab(regard: Say, toy: Toy, good: Translator) -> None:
    texts = sentences(5, seed=5)
    lines = regard("translate", toy.good, *texts, "--scores")[1].splitlines()
    found = good.translate(texts, Decoding(beam=4))
    assert lines == [f"{best[0].score:.4f}\t{best[0].text}" for best in found]
    assert all(float(line.split("\t")[0]) <= 0 for line in lines)


def test_nbest_gives_so_many_lines_for_each_best_first(
    regard: Say, toy: Toy, type_in: Callable[[list[str]], None]
) -> None:
    type_in(["un deux trois", "", "six"])
    lines = regard("translate", toy.poor, "--nbest", 3, "--beam", 5, "--scores")[1].splitlines()
    assert len(lines) == 9
    assert lines[3:6] == ["\t", "\t", "\t"]
    for three in (lines[:3], lines[6:]):
        scores = [float(line.split("\t")[0]) for line in three]
        assert scores == sorted(scores, reverse=True)
        assert len({line.split("\t")[1] for line in three}) == 3


def test_samples_repeat_with_their_seed_alone(regard: Say, toy: Toy) -> None:
    def drawn(seed: int) -> str:
        options = ["--sample", "--nbest", 4, "--temperature", 2.0, "--seed", seed]
        code, out, _ = regard("translate", toy.poor, *options, *sentences(5, seed=6))
        assert code == 0
        return out

    assert drawn(1) == drawn(1) != drawn(2)


# --- alignments -------------------------------------------------------------------------------------------------------


def links(line: str) -> list[tuple[int, int]]:
    cell = line.rsplit("\t", maxsplit=1)[-1]
    assert re.fullmatch(r"(\d+-\d+( \d+-\d+)*)?", cell)
    return [(int(left), int(right)) for left, right in re.findall(r"(\d+)-(\d+)", cell)]


def test_word_for_word_translations_align_along_the_diagonal(regard: Say, toy: Toy) -> None:
    texts = sentences(30, seed=7)
    lines = regard("translate", toy.good, "--align", *texts)[1].splitlines()
    straight = every = 0
    for text, line in zip(texts, lines, strict=True):
        target, _ = line.split("\t")
        found = links(line)
        assert all(left < len(text.split()) and right < len(target.split()) for left, right in found)
        straight, every = straight + sum(left == right for left, right in found), every + len(found)
    assert every >= 2 * len(texts)
    assert straight / every > 0.9


def test_the_alignment_of_a_text_in_parts_counts_the_words_of_the_whole(regard: Say, toy: Toy) -> None:
    text = " ".join(WORDS[i % 6] for i in range(4 * LONGEST))
    _, out, _ = regard("translate", toy.good, "--align", "--scores", text)
    found = links(out.removesuffix("\n"))
    assert [right for _, right in found] == list(range(4 * LONGEST))
    assert max(left for left, _ in found) >= 3 * LONGEST
    assert all(left // LONGEST == right // LONGEST for left, right in found)


# --- searches ---------------------------------------------------------------------------------------------------------


@torch.no_grad()
def likeliest(translator: Translator, text: str, most: int = 10) -> str:
    """Greedy search as one would write it down: the whole prefix anew for each token."""
    source, _ = padded([torch.tensor([*translator.tokenizer.encode([text])[0], END]).numpy()], translator.device)
    found = [START]
    while found[-1] != END and len(found) <= most:
        found.append(int(translator.model(source, torch.tensor([found]))[0, -1].argmax()))
    return translator.tokenizer.decode(found[1:])


def test_a_beam_of_one_is_greedy(poor: Translator) -> None:
    texts = sentences(20, seed=8)
    assert poor(texts, beam=1, max_length=10) == [likeliest(poor, text) for text in texts]


def test_a_beam_finds_what_is_more_probable_than_greedy(poor: Translator) -> None:
    texts = sentences(60, seed=9)

    def mean(beam: int) -> float:
        found = poor.translate(texts, Decoding(beam=beam, length_penalty=0.0))
        return sum(best[0].log_prob for best in found) / len(texts)

    assert mean(5) > mean(1)


@pytest.mark.parametrize("beam", [1, 5])
def test_a_batch_gives_the_translations_of_single_sentences(poor: Translator, beam: int) -> None:
    texts = sentences(200, seed=10)
    together, alone = (poor.texts(texts, Decoding(beam=beam), batch) for batch in (32, 1))
    assert sum(one == other for one, other in zip(together, alone, strict=True)) >= 0.995 * len(texts)


# --- evaluate ---------------------------------------------------------------------------------------------------------


def test_an_evaluation_as_json_has_all_that_was_measured(regard: Say, toy: Toy) -> None:
    result = answer(regard, "evaluate", toy.good, "--data", toy.file("test.jsonl"), "--tokenised", "en")
    assert result.keys() == {
        *("scores", "by length", "search", "sentences", "sentences per second", "tokens per second", "alignment")
    }
    assert result["scores"].keys() == {"BLEU", "chrF", "TER", "tokenised BLEU"}
    assert all(one.keys() == {"score", "signature"} for one in result["scores"].values())
    assert result["scores"]["BLEU"]["score"] > 90
    assert "tok:13a" in result["scores"]["BLEU"]["signature"]
    assert result["sentences"] == 60 == sum(row["sentences"] for row in result["by length"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--beam", 3, "--length-penalty", 1.5), "; beam of 3, length penalty 1.5"),
        (("--beam", 1), "; greedy search"),
        (("--sample", "true", "--seed", 1), "; drawn"),
    ],
)
def test_an_evaluation_says_how_it_searched(regard: Say, toy: Toy, words: tuple[object, ...], said: str) -> None:
    code, out, _ = regard("evaluate", toy.good, "--data", toy.file("test.tsv"), *words)
    assert code == 0
    assert out.rstrip().endswith(said)


def test_gold_alignments_give_an_error_rate_and_their_absence_none(regard: Say, toy: Toy) -> None:
    result = json.loads(regard("evaluate", toy.good, "--data", toy.file("test.jsonl"), "--json")[1])
    assert result["alignment"]["sentences"] == 60
    assert result["alignment"]["layer"] == "decoder.0.cross"
    assert 0 <= result["alignment"]["error rate"] < 0.1
    assert "alignment" not in json.loads(regard("evaluate", toy.good, "--data", toy.file("test.tsv"), "--json")[1])


def test_beside_itself_a_run_is_no_better(regard: Say, toy: Toy) -> None:
    words = ["evaluate", toy.poor, "--data", toy.file("test.tsv"), "--against", toy.poor]
    result = json.loads(regard(*words, "--json")[1])["against"]
    for name in ("BLEU", "chrF"):
        assert result[name]["value"] == result[name]["other"]
        assert result[name]["p_value"] == 1
    code, out, err = regard(*words)
    assert (code, err) == (0, "")
    assert out.count("may be chance") == 2


def test_beside_a_worse_run_the_difference_is_significant(regard: Say, toy: Toy) -> None:
    words = ["evaluate", toy.good, "--data", toy.file("test.tsv"), "--against", toy.poor]
    result = json.loads(regard(*words, "--json")[1])["against"]
    for name in ("BLEU", "chrF"):
        assert result[name]["value"] > result[name]["other"]
        assert result[name]["p_value"] < 0.05
    assert regard(*words)[1].count("significant at 0.05") == 2


def test_parallel_files_are_evaluated_like_one_file(regard: Say, toy: Toy, tmp_path: Path) -> None:
    pairs = list(PairFile(toy.file("test.tsv")))
    (tmp_path / "a.fr").write_text("".join(f"{pair.source}\n" for pair in pairs))
    (tmp_path / "a.en").write_text("".join(f"{pair.target}\n" for pair in pairs))
    one = json.loads(regard("evaluate", toy.poor, "--data", toy.file("test.tsv"), "--json")[1])
    code, out, _ = regard(
        "evaluate", toy.poor, "--source", tmp_path / "a.fr", "--target", tmp_path / "a.en", "--json", "--count", 60
    )
    assert code == 0
    assert json.loads(out)["scores"] == one["scores"]


# --- other files to train from ----------------------------------------------------------------------------------------


def write_csv(path: Path) -> list[str]:
    rows = [f'{n},"{text}","{meaning(text)}"' for n, text in enumerate(sentences(20, seed=11))]
    path.write_text("\n".join(["number,french,english", *rows]) + "\n")
    return ["--columns", "french,english"]


def write_gzip(path: Path) -> list[str]:
    plain = write_pairs(path.with_suffix(""), 20, 11)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    return []


@pytest.mark.parametrize(("name", "write"), [("train.csv", write_csv), ("train.tsv.gz", write_gzip)])
def test_other_forms_of_files_train_the_same_run(
    regard: Say, tmp_path: Path, name: str, write: Callable[[Path], list[str]]
) -> None:
    columns = write(tmp_path / name)
    runs = {"plain": (write_pairs(tmp_path / "plain.tsv", 20, 11), []), "other": (tmp_path / name, columns)}
    for run, (file, options) in runs.items():
        words = ["--train", file, "--valid", file, *options, *MODEL, "--max-steps", 1, "--batch-tokens", 100]
        assert regard("train", "translate", "--run", tmp_path / run, *words)[0] == 0
    stores = [Store.open(tmp_path / run / "tokens") for run in runs]
    assert len(stores[0]) == len(stores[1]) == 20
    for side in (0, 1):
        one, other = (store.rows(side, range(20)) for store in stores)
        assert [row.tolist() for row in one] == [row.tolist() for row in other]


# --- from Python ------------------------------------------------------------------------------------------------------


def test_a_run_is_loaded_as_something_to_call(toy: Toy) -> None:
    translator = library.load(toy.good)
    assert translator("deux trois") == "two three"
    assert translator(["deux trois", "six un"], beam=5) == ["two three", "six one"]
    assert translator(["deux trois"] * 2, sample=True, top_k=1) == ["two three"] * 2
    assert translator([]) == []


def test_matrices_of_bytes_translate_too(regard: Say, toy: Toy) -> None:
    score = json.loads(regard("evaluate", toy.good, "--data", toy.file("test.tsv"), "--int8", "--json")[1])
    assert score["scores"]["BLEU"]["score"] > 90
    assert regard("translate", toy.good, "--int8", "un deux trois")[1] == "one two three\n"
    assert library.load(toy.good, int8=True)("un deux") == "one two"


def test_an_option_that_is_unknown_names_the_nearest_from_python_too(good: Translator) -> None:
    with pytest.raises(ValueError, match="unknown key 'beem': did you mean 'beam'"):
        good("deux", beem=5)


def test_white_space_beyond_the_limit_is_no_mistake(good: Translator) -> None:
    assert isinstance(good(" " * 1000), str)


def test_a_diagonal_is_what_it_says() -> None:
    assert diagonal("un deux trois") == "0-0 1-1 2-2"


def test_a_run_is_compared_with_another_in_the_same_precision(
    regard: Say, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr("regard.fast.int8.quantise", made.append)
    regard("evaluate", toy.good, "--data", toy.file("test.tsv"), "--against", toy.poor, "--int8")
    assert len(made) == 2


def test_empty_lines_are_counted_when_a_run_is_scored(regard: Say, toy: Toy, tmp_path: Path) -> None:
    lines = Path(toy.file("test.tsv")).read_text().splitlines()
    (tmp_path / "gaps.tsv").write_text("\n".join([lines[0], "", "\t", *lines[1:]]) + "\n")
    _, _, err = regard("evaluate", toy.good, "--data", tmp_path / "gaps.tsv")
    assert "2 empty lines were skipped" in err


def test_one_long_word_is_translated_in_parts(regard: Say, toy: Toy, type_in: Callable[[list[str]], None]) -> None:
    type_in(["un deux", "un-deux-trois-quatre", "trois"])
    code, out, err = regard("translate", toy.good)
    lines = out.splitlines()
    assert (code, len(lines), lines[0], lines[2]) == (0, 3, "one two", "three")
    assert "it is translated in" in err


# --- several runs -----------------------------------------------------------------------------------------------------


def test_runs_translate_together(
    regard: Say, toy: Toy, good: Translator, poor: Translator, type_in: Callable[[list[str]], None]
) -> None:
    texts = sentences(20, seed=6)
    both = good.beside([poor])
    type_in(texts)
    code, out, err = regard("translate", toy.good, "--with", toy.poor, "--beam", 3)
    assert (code, err) == (0, "")
    assert out.splitlines() == both(texts, beam=3)
    assert both.reading is None
    assert answer(regard, "evaluate", toy.good, "--with", toy.poor, "--data", toy.file("test.tsv"))["sentences"] == 60


def test_runs_that_cannot_translate_together_say_why(regard: Say, toy: Toy, tmp_path: Path) -> None:
    other = tmp_path / "other"
    data = ["--train", toy.file("test.tsv"), "--valid", toy.file("test.tsv")]
    assert regard("train", "translate", "--run", other, *data, *MODEL, "--max-steps", 1, "--tokenizer", "char")[0] == 0
    code, out, err = regard("translate", toy.good, "--with", other, "un")
    assert (code, out) == (2, "")
    assert "different tokenizers cannot write together" in err
    code, out, err = regard("translate", toy.good, "--with", toy.poor, "--align", "un")
    assert (code, out) == (2, "")
    assert "several runs have no one alignment" in err
