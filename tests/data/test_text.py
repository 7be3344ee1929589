"""Plain text: exactly what stands in the files, in documents, as often as one asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.data.documents import bytes_in
from regard.data.text import FirstLines, Sentences, Share, TextFiles
from regard.errors import DataError
from tests.data.written import write

TEXT = "Première ligne.\r\n\n  Indented\tline 🌙\nno end"


def texts(documents: object) -> list[str]:
    return [document.text() for document in documents]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.md"])
def test_a_file_is_one_document_letter_by_letter(tmp_path: Path, name: str) -> None:
    documents = TextFiles(write(tmp_path / name, TEXT))
    assert texts(documents) == texts(documents) == [TEXT]
    assert bytes_in(documents) == len(TEXT.encode())


def test_a_folder_is_a_document_for_each_text_file_by_name(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt.gz", "c/d.txt"):
        write(tmp_path / name, f"in {name}\n")
    write(tmp_path / "picture.png", b"\xff")
    assert texts(TextFiles(tmp_path)) == ["in a.txt.gz\n", "in b.txt\n", "in c/d.txt\n"]


def test_jsonl_has_a_document_a_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "".join(json.dumps({"text": t, "id": 1}) + "\n\n" for t in (TEXT, "x")))
    assert texts(TextFiles(path)) == [TEXT, "x"]
    path = write(tmp_path / "b.jsonl", json.dumps({"body": "y"}))
    assert texts(TextFiles(path, column="body")) == ["y"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"good\nbad \xff\n", "line 2: not valid UTF-8"),
        ("a.jsonl", b"{", "line 1: not JSON"),
        ("a.jsonl", b"[1]", "line 1: not a JSON object"),
        ("a.jsonl", b'{"texts": "a"}', "no column 'text': did you mean 'texts'"),
        ("a.jsonl", b'{"text": 3}', "column 'text' is 3, not a text"),
        ("a.jsonl", b'{"text": "\\ud800"}', "half of a surrogate pair"),
        ("a.jsonl", b"", "no text"),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        texts(TextFiles(write(tmp_path / name, data)))


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        TextFiles(tmp_path / "no.txt")
    with pytest.raises(DataError, match=r"holds no \.txt files and no \.jsonl"):
        TextFiles(tmp_path)
    with pytest.raises(DataError, match="plain text has none"):
        TextFiles(write(tmp_path / "a.txt", "x"), column="text")


@pytest.mark.parametrize("percent", [0, 1, 37, 50, 90, 99, 100])
def test_two_shares_are_the_whole_whatever_the_cut(tmp_path: Path, percent: int) -> None:
    for i in range(4):
        write(tmp_path / f"{i}.txt", "é🌙a\n" * (i + 1) + "ü" * i)
    whole = TextFiles(tmp_path)
    first, second = Share(whole, 0, percent), Share(whole, percent, 100)
    assert "".join(texts(first) + texts(second)) == "".join(texts(whole))
    assert bytes_in(first) == pytest.approx(percent / 100 * bytes_in(whole), abs=4)
    assert all(texts(first) + texts(second))


def test_documents_stay_apart_in_a_share(tmp_path: Path) -> None:
    for i in range(4):
        write(tmp_path / f"{i}.txt", f"{i}" * 10)
    assert texts(Share(TextFiles(tmp_path), 0, 50)) == ["0" * 10, "1" * 10]
    assert texts(Share(TextFiles(tmp_path), 40, 80)) == ["1" * 4, "2" * 10, "3" * 2]


def test_so_many_lines_are_counted_over_all_documents(tmp_path: Path) -> None:
    for i in range(3):
        write(tmp_path / f"{i}.txt", f"{i} a\n{i} b\n")
    assert texts(FirstLines(TextFiles(tmp_path), 3)) == ["0 a\n0 b\n", "1 a\n"]


def test_a_sentence_a_line_is_read_without_line_ends(tmp_path: Path) -> None:
    sentences = Sentences(TextFiles(write(tmp_path / "a.txt", "One two.\r\n\n Three.\n")))
    assert list(sentences) == list(sentences) == ["One two.", "Three."]


def test_pieces_are_the_text_and_are_tokenized_as_if_it_were_whole(tmp_path: Path) -> None:
    from regard.data.text import PIECE_CHARACTERS, Pieces
    from regard.data.tokenizers import Tokenizer

    text = "".join(f"line {i}\n" + "\n" * (i % 3) + "  indented\n" * (i % 2) for i in range(4_000))
    documents = TextFiles(write(tmp_path / "a.txt", text))
    pieces = list(Pieces(documents))
    assert "".join(piece for piece in pieces if piece is not None) == text
    assert len(pieces) == pytest.approx(len(text) / PIECE_CHARACTERS, abs=2)
    tokenizer = Tokenizer.train([text], "bpe", 400)
    parts = [i for piece in pieces for i in tokenizer.encode([piece or ""])[0]]
    assert parts == tokenizer.encode([text])[0]


def test_documents_are_kept_apart_in_pieces(tmp_path: Path) -> None:
    from regard.data.text import Pieces, Texts

    for i in range(3):
        write(tmp_path / f"{i}.txt", f"text {i}")
    assert list(Pieces(TextFiles(tmp_path))) == ["text 0", None, "text 1", None, "text 2"]
    assert list(Texts(TextFiles(tmp_path))) == ["text 0", "text 1", "text 2"]


def test_patterns_and_several_paths_are_taken_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c/d.txt.gz"):
        write(tmp_path / name, f"in {name}")
    write(tmp_path / "c" / "e.jsonl.gz", json.dumps({"text": "one"}) + "\n" + json.dumps({"text": "two"}))
    assert texts(TextFiles(f"{tmp_path}/*.txt")) == ["in a.txt", "in b.txt"]
    assert texts(TextFiles(tmp_path / "c")) == ["in c/d.txt.gz", "one", "two"]
    assert texts(TextFiles(f"{tmp_path}/b.txt,{tmp_path}/c,{tmp_path}/a*")) == [
        *("in b.txt", "in c/d.txt.gz", "one", "two", "in a.txt")
    ]
    with pytest.raises(DataError, match="matches no file"):
        TextFiles(f"{tmp_path}/*.md")
    with pytest.raises(DataError, match="does not exist"):
        TextFiles(f"{tmp_path}/a.txt,{tmp_path}/no.txt")


def test_wikitext_articles_are_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.data.catalogue import open_data

    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"wikitext-2: wiki\.train\.tokens .* put it there"):
        open_data("wikitext-2", form="text")
    lines = " \n = One = \n \n Some text . \n = = Part = = \n more \n \n = Two = \n \n end \n"
    write(tmp_path / "wikitext-2" / "wiki.valid.tokens", lines)
    documents = open_data("wikitext-2", split="valid", form="text")
    assert (
        texts(documents)
        == texts(documents)
        == [
            " = One = \n \n Some text . \n = = Part = = \n more \n \n",
            " = Two = \n \n end \n",
        ]
    )
