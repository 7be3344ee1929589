"""Reading sentence pairs: four forms, strictly, with the place of every mistake."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from regard.data.files import PairFile, ParallelFiles
from regard.data.pairs import Pair
from regard.errors import DataError
from tests.data.written import complaint, write

PAIRS = [Pair("a cat", "une chatte"), Pair("two dogs", "deux chiens"), Pair("it's “late”, he said", "il est tard 🌙")]


def tsv(pairs: list[Pair]) -> str:
    return "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)


def jsonl(pairs: list[Pair]) -> str:
    return "".join(json.dumps({"source": pair.source, "target": pair.target}) + "\n" for pair in pairs)


def csv(pairs: list[Pair]) -> str:
    return "source,target\n" + "".join(f'"{pair.source}","{pair.target}"\n' for pair in pairs)


FORMS = {"tsv": tsv, "txt": tsv, "jsonl": jsonl, "csv": csv}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_pairs_as_often_as_one_asks(tmp_path: Path, form: str, ending: str) -> None:
    file = PairFile(write(tmp_path / f"train.{form}{ending}", FORMS[form](PAIRS)))
    assert list(file) == PAIRS
    assert list(file) == PAIRS


@pytest.mark.parametrize("form", FORMS)
def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path, form: str) -> None:
    text = "\ufeff" + FORMS[form](PAIRS).replace("\n", "\r\n")
    assert list(PairFile(write(tmp_path / f"train.{form}", text))) == PAIRS


def test_parallel_files_are_read_line_by_line(tmp_path: Path) -> None:
    source = write(tmp_path / "a.en", "".join(f"{pair.source}\n" for pair in PAIRS))
    target = write(tmp_path / "a.fr.gz", "\r\n".join(pair.target for pair in PAIRS))
    assert list(ParallelFiles(source, target)) == PAIRS


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", "one\u2028line\x0bhere\tune\x85ligne\n")
    assert list(PairFile(path)) == [Pair("one\u2028line\x0bhere", "une\x85ligne")]


def test_columns_after_the_second_are_ignored_in_tsv(tmp_path: Path) -> None:
    assert list(PairFile(write(tmp_path / "t.tsv", "red\trouge\tnote\t0-0\n"))) == [Pair("red", "rouge")]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_columns_can_be_named(tmp_path: Path, form: str) -> None:
    text = FORMS[form](PAIRS).replace("source", "en").replace("target", "fr")
    assert list(PairFile(write(tmp_path / f"t.{form}", text), ("en", "fr"))) == PAIRS


def test_naming_columns_of_a_tsv_without_a_header_is_an_error(tmp_path: Path) -> None:
    said = complaint(PairFile, write(tmp_path / "t.tsv", tsv(PAIRS)), ("en", "fr"))
    assert "the first line, 'a cat | une chatte', has no column 'en'" in said


def test_a_quoted_cell_may_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'n,source,target\n1,"a, ""b""\nc",d\n')
    assert list(PairFile(path)) == [Pair('a, "b"\nc', "d")]


@pytest.mark.parametrize("form", ["tsv", "jsonl", "csv"])
def test_empty_lines_and_empty_sides_are_skipped_and_counted_anew_each_pass(tmp_path: Path, form: str) -> None:
    text = FORMS[form]([PAIRS[0], Pair("", ""), Pair("only this", " "), PAIRS[1]]) + "\n"
    file = PairFile(write(tmp_path / f"t.{form}", text))
    for _ in range(2):
        assert list(file) == PAIRS[:2]
        assert file.skipped == 3


def test_empty_lines_of_parallel_files_are_skipped_on_both_sides(tmp_path: Path) -> None:
    files = ParallelFiles(write(tmp_path / "a", "a\n\nc\n"), write(tmp_path / "b", "A\nB\nC\n"))
    assert list(files) == [Pair("a", "A"), Pair("c", "C")]
    assert files.skipped == 1


def test_a_file_is_read_as_a_stream(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "a\tb\n" * 3 + "no tab here\n")
    assert list(islice(PairFile(path), 3)) == [Pair("a", "b")] * 3


def test_a_line_without_a_tab_names_the_file_and_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", "a\tb\n" * 16 + "no tab\n")
    assert complaint(PairFile, path) == f"{path}, line 17: no tab between source and target"


def test_different_numbers_of_lines_say_both_numbers_and_files(tmp_path: Path) -> None:
    short, long = write(tmp_path / "a.en", "x\n" * 3), write(tmp_path / "a.de", "y\n" * 1_700)
    for files in (ParallelFiles(short, long), ParallelFiles(long, short)):
        with pytest.raises(DataError, match="same number of lines") as error:
            list(files)
        assert f"{short} has 3" in str(error.value)
        assert f"{long} has 1,700" in str(error.value)


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "csv", "tsv.gz"])
def test_invalid_utf8_names_the_file_and_the_line(tmp_path: Path, ending: str) -> None:
    form = FORMS[ending.removesuffix(".gz")]
    text = form(PAIRS[:2]).encode() + "caf\xe9\tx\n".encode("latin-1")
    path = write(tmp_path / f"t.{ending}", text)
    line = text.count(b"\n")
    assert complaint(PairFile, path).startswith(f"{path}, line {line}: not valid UTF-8 (byte 0xe9 at place 4)")


def test_a_missing_file_and_a_folder_are_named_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv does not exist"):
        PairFile(tmp_path / "none.tsv")
    with pytest.raises(DataError, match="is a folder"):
        PairFile(tmp_path)
    with pytest.raises(DataError, match=r"none\.de does not exist"):
        ParallelFiles(write(tmp_path / "a.en", "a"), tmp_path / "none.de")


@pytest.mark.parametrize("text", ["", "\n\n \n"])
@pytest.mark.parametrize("form", ["tsv", "jsonl", "csv"])
def test_a_file_without_any_pair_is_an_error(tmp_path: Path, form: str, text: str) -> None:
    header = "source,target\n" if form == "csv" and text else ""
    path = write(tmp_path / f"t.{form}", header + text)
    assert complaint(PairFile, path).startswith(f"{path}: no sentence pair")


def test_empty_parallel_files_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sentence pair"):
        list(ParallelFiles(write(tmp_path / "a", ""), write(tmp_path / "b", "")))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1, 2]", "not a JSON object"),
        ('{"source": "a"', "not JSON"),
        ('{"source": "a", "targt": "b"}', "no column 'target': did you mean 'targt'?"),
        ('{"source": "a", "target": 3}', "column 'target' is 3, not a text"),
        ('{"source": "a", "target": "\\ud800"}', "half of a surrogate pair"),
        ('{"source": "a", "target": "b", "alignment": "0:0"}', "alignment '0:0' is not of the form 0-0"),
        ('{"source": "a", "target": "b", "alignment": "0-1"}', "'0-1' points beyond 1 source and 1 target words"),
    ],
)
def test_a_wrong_json_line_says_what_is_wrong_with_it(tmp_path: Path, line: str, said: str) -> None:
    path = write(tmp_path / "t.jsonl", jsonl(PAIRS) + line + "\n")
    assert complaint(PairFile, path).startswith(f"{path}, line 4: ")
    assert said in complaint(PairFile, path)


def test_a_cell_of_csv_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"en,fr\none,{'un ' * 100_000}\n")
    (pair,) = PairFile(path, ("en", "fr"))
    assert len(pair.target.split()) == 100_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sorce,target\na,b\n", "line 1: no column 'source': did you mean 'sorce'?"),
        ("source,target\na,b\nc\n", "line 3: 1 cells, but the header has 2"),
        ('source,target\na,"b\n', "not CSV"),
    ],
)
def test_a_wrong_csv_file_says_what_is_wrong_with_it(tmp_path: Path, text: str, said: str) -> None:
    assert said in complaint(PairFile, write(tmp_path / "t.csv", text))


def test_a_truncated_gzip_file_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv.gz", "".join(f"source {i * i}\ttarget {i * 7}\n" for i in range(9_000)))
    path.write_bytes(path.read_bytes()[:-2_000])
    assert "gzip file is cut off or damaged after line" in complaint(PairFile, path)
    path.write_bytes(b"a\tb\n")
    assert "gzip file is cut off or damaged" in complaint(PairFile, path)


def test_gold_alignments_are_read_from_jsonl_with_the_words_they_count(tmp_path: Path) -> None:
    record = {"source": "a black cat", "target": "un chat noir", "alignment": "2-1 0-0 1-2"}
    path = write(tmp_path / "t.jsonl", json.dumps(record) + "\n")
    (pair,) = PairFile(path)
    assert pair.source_words == ("a", "black", "cat")
    assert pair.target_words == ("un", "chat", "noir")
    assert pair.alignment == ((0, 0), (1, 2), (2, 1))
