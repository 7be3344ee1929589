"""Reading labelled texts: the same strict forms as sentence pairs, with the place of every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.data.labelled import HeldOut, Labelled, LabelledFile
from tests.data.written import complaint, write

TEXTS = [Labelled("a fine film", "good"), Labelled('dull, "very" dull', "bad"), Labelled("so-so", "not sure")]


def tsv(texts: list[Labelled]) -> str:
    return "".join(f"{one.text}\t{one.label}\n" for one in texts)


def jsonl(texts: list[Labelled]) -> str:
    return "".join(json.dumps({"text": one.text, "label": one.label}) + "\n" for one in texts)


def csv(texts: list[Labelled]) -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    return "text,label\n" + "".join(f"{cell(one.text)},{cell(one.label)}\n" for one in texts)


FORMS = {"tsv": tsv, "jsonl": jsonl, "csv": csv}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_texts_as_often_as_one_asks(tmp_path: Path, form: str, ending: str) -> None:
    file = LabelledFile(write(tmp_path / f"train.{form}{ending}", FORMS[form](TEXTS)))
    assert list(file) == TEXTS
    assert list(file) == TEXTS


@pytest.mark.parametrize("form", FORMS)
def test_columns_can_be_named(tmp_path: Path, form: str) -> None:
    header = "text\tlabel\n" if form == "tsv" else ""
    text = (header + FORMS[form](TEXTS)).replace("text", "review").replace("label", "stars")
    assert list(LabelledFile(write(tmp_path / f"t.{form}", text), ("review", "stars"))) == TEXTS


def test_labels_of_json_may_be_whole_numbers_or_truths(tmp_path: Path) -> None:
    lines = [json.dumps({"text": "a", "label": label}) for label in (1, 0, -1, True, "2")]
    assert [one.label for one in LabelledFile(write(tmp_path / "t.jsonl", "\n".join(lines)))] == [
        *("1", "0", "-1", "true", "2")
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_label_without_a_text_is_skipped_and_counted_a_text_without_a_label_is_an_error(
    tmp_path: Path, form: str
) -> None:
    file = LabelledFile(write(tmp_path / f"t.{form}", FORMS[form]([TEXTS[0], Labelled(" ", "good"), TEXTS[1]]) + "\n"))
    assert list(file) == TEXTS[:2]
    assert file.skipped == 2
    path = write(tmp_path / f"u.{form}", FORMS[form]([TEXTS[0], Labelled("hm", " ")]))
    assert complaint(LabelledFile, path).endswith("the text has no label; give it one or take the line out")
    assert f"line {3 if form == 'csv' else 2}" in complaint(LabelledFile, path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.tsv", "good film\n", "line 1: no tab between text and label"),
        ("t.tsv", "review\tlabel\nwell\tgood\n", "line 1: 'label' names a column"),
        ("t.jsonl", '{"text": "a", "lable": "b"}\n', "line 1: no column 'label': did you mean 'lable'?"),
        ("t.jsonl", '{"text": "a", "label": 0.5}\n', "line 1: column 'label' is 0.5, not a text"),
        ("t.jsonl", '{"text": "a", "label": null}\n', "line 1: column 'label' is None, not a text"),
        ("t.csv", "txt,label\na,b\n", "line 1: no column 'text': did you mean 'txt'?"),
        ("t.tsv", "", "no labelled text (nothing in it)"),
        ("t.tsv", "\n \n", "no labelled text (all 2 lines are empty)"),
    ],
)
def test_a_wrong_file_says_what_is_wrong_with_it_and_where(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = write(tmp_path / name, text)
    assert complaint(LabelledFile, path).startswith(str(path))
    assert said in complaint(LabelledFile, path)


@pytest.mark.parametrize("first", ["review\tstars", "good one\tfive"])
def test_a_first_line_unlike_all_others_must_be_explained(tmp_path: Path, first: str) -> None:
    path = write(tmp_path / "t.tsv", f"{first}\nwell\t5\nbad\t1\nso so\t3\n")
    text, label = first.split("\t")
    assert complaint(LabelledFile, path).startswith(f"{path}, line 1: the label {label!r} stands nowhere else")
    assert f"--columns {text},{label}; if it is an example: --columns 1,2" in complaint(LabelledFile, path)
    assert [one.label for one in LabelledFile(path, (text, label))] == ["5", "1", "3"]
    assert [one.label for one in LabelledFile(path, ("1", "2"))] == [label, "5", "1", "3"]


def test_a_rare_class_is_none(tmp_path: Path) -> None:
    few = write(tmp_path / "few.tsv", "a\trare\nb\tseldom\nc\tcommon\nd\tcommon\n")
    assert len(list(LabelledFile(few))) == 4


def test_what_is_held_out_is_the_same_each_time_and_the_rest_is_for_training() -> None:
    texts = [Labelled(f"text {i % 90}", "ab"[i % 2]) for i in range(100)]
    train, valid = (HeldOut(lambda: texts, split, held_out=20) for split in ("train", "valid"))
    assert list(valid) == list(valid)
    assert len(list(valid)) == 20
    assert len(list(train)) == 70  # ten stand twice
    assert {one.text for one in [*train, *valid]} == {one.text for one in texts}
    assert list(train) != [one for one in texts if one in set(train)]
