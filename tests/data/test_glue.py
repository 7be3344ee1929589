"""Files of GLUE and its relatives, by their path: with a header or without, quotes as they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.data.files import PairFile
from regard.data.judged import JudgedFile, JudgedPair
from regard.data.labelled import Labelled, LabelledFile
from regard.data.pairs import Pair
from tests.data.written import complaint, write

TREES = "( a )\t( b )\t(ROOT a)\t(ROOT b)"
MNLI = (
    "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse"
)
SINGLE = {
    "SST-2": ("train.tsv", 'sentence\tlabel\nno wit , only "gags" \t0\n', Labelled('no wit , only "gags"', "0")),
    "CoLA": (
        "train.tsv",
        "gj04\t1\t\tOur friends won't buy.\ngj04\t0\t*\tThe cat sleep.\n",
        Labelled("Our friends won't buy.", "1"),
    ),
    "CoLA, marked": ("in_domain_dev.tsv", "gj04\t0\t??\tThe cat sleep.\n", Labelled("The cat sleep.", "0")),
}
PAIRS = {
    "MRPC": (
        "msr_paraphrase_train.txt",
        '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t7\t8\t"He said\tSaid "he, " twice.\r\n',
        JudgedPair('"He said', 'Said "he, " twice.', "1"),
    ),
    "QQP": (
        "train.tsv",
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t2\t3\tWhy?\tHow?\t0\n",
        JudgedPair("Why?", "How?", "0"),
    ),
    "STS-B": (
        "train.tsv",
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "0\tmain-captions\tMSRvid\t2012test\t0001\tnone\tnone\tA plane.\tAn air plane.\t5.000\n",
        JudgedPair("A plane.", "An air plane.", "5.000", scored=True),
    ),
    "STS-B, as it came": (
        "sts-train.csv",
        "main-captions\tMSRvid\t2012test\t0001\t3.800\tA man, here.\tA man.\tx\ty\n",
        JudgedPair("A man, here.", "A man.", "3.800", scored=True),
    ),
    "MNLI": (
        "train.tsv",
        f"{MNLI}\tsentence1\tsentence2\tlabel1\tgold_label\n"
        f"0\t1\t1n\tfiction\t{TREES}\tHe ate.\tHe fasted.\tneutral\tcontradiction\n",
        JudgedPair("He ate.", "He fasted.", "contradiction"),
    ),
    "QNLI": (
        "dev.tsv",
        "index\tquestion\tsentence\tlabel\n0\tWho?\tAnna did.\tentailment\n",
        JudgedPair("Who?", "Anna did.", "entailment"),
    ),
    "RTE": (
        "train.tsv.gz",
        "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tIt is wet.\tentailment\n",
        JudgedPair("It rains.", "It is wet.", "entailment"),
    ),
    "SICK": (
        "SICK_train.txt",
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\tA boy\tA girl\t4.5\tNEUTRAL\n",
        JudgedPair("A boy", "A girl", "4.5", scored=True),
    ),
    "CSV": ("a.csv", 'sentence1,sentence2,label\n"a, b",c,yes\n', JudgedPair("a, b", "c", "yes")),
    "JSONL": ("a.jsonl", '{"premise": "a", "hypothesis": "b", "label": 2}\n', JudgedPair("a", "b", "2")),
}


@pytest.mark.parametrize("form", SINGLE)
def test_sentences_with_labels(tmp_path: Path, form: str) -> None:
    name, text, first = SINGLE[form]
    file = LabelledFile(write(tmp_path / name, text))
    assert next(iter(file)) == first
    assert len(list(file)) == text.count("\n") - text.startswith("sentence")


@pytest.mark.parametrize("form", PAIRS)
def test_pairs_with_labels_or_scores(tmp_path: Path, form: str) -> None:
    name, text, pair = PAIRS[form]
    file = JudgedFile(write(tmp_path / name, text))
    assert list(file) == list(file) == [pair]


def test_columns_of_tsv_are_named_by_a_header_or_by_number(tmp_path: Path) -> None:
    path = write(tmp_path / "sick.txt", PAIRS["SICK"][1])
    (judged,) = JudgedFile(path, ("sentence_B", "sentence_A", "entailment_judgment"))
    assert judged == JudgedPair("A girl", "A boy", "NEUTRAL")
    reviews = write(tmp_path / "reviews.tsv", "good\t17\tA fine film.\nbad\t18\tA dull one.\n")
    assert list(LabelledFile(reviews, ("3", "1"))) == [Labelled("A fine film.", "good"), Labelled("A dull one.", "bad")]
    assert list(PairFile(write(tmp_path / "t.tsv", "target\tsource\nchat\tcat\n"))) == [Pair("cat", "chat")]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a\tb\n", ("text", "stars"), "the first line, 'a | b', has no column 'text'; without a header"),
        ("a\tb\n", ("0", "1"), "columns are counted from 1"),
        ("a\tb\tc\nd\te\n", ("3", "1"), "line 2: 2 cells between tabs, where column 3 and column 1 need 3"),
        (
            "review\tlabel\na\tb\n",
            None,
            "line 1: 'label' names a column; say which ones hold what: --columns review,label",
        ),
        ("gj04\t1\t\tFine.\ngj04\t1\n", None, "line 2: 2 cells between tabs, where text and label need 4"),
    ],
)
def test_columns_that_are_not_there_are_named(
    tmp_path: Path, text: str, columns: tuple[str, ...] | None, message: str
) -> None:
    assert message in complaint(LabelledFile, write(tmp_path / "t.tsv", text), columns)
