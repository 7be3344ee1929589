"""Documents: their parts are what stands there, however long lines are, and however the file is packed."""

from __future__ import annotations

import gzip
import io
import itertools
from pathlib import Path

import pytest

from regard.data.documents import Document, file_document, in_memory
from regard.data.files import LONGEST_LINE_BYTES, bounded, whole_characters
from regard.data.text import Pieces, Sampled, TextFiles, evenly
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError

TEXT = "Première ligne.\r\n\n  Indented\tline 🌙\nno end é"


def opened(path: Path, text: str, bom: bool = False) -> Document:
    data = b"\xef\xbb\xbf" * bom + text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return file_document(path)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", ""])
@pytest.mark.parametrize("bom", [False, True])
def test_any_ranges_of_any_document_are_read_alike(tmp_path: Path, name: str, bom: bool) -> None:
    document = opened(tmp_path / name, TEXT, bom) if name else in_memory("a", TEXT)
    size = len(TEXT.encode())
    assert document.size == size
    for cut in range(size + 1):
        halves = [document.parted([(-5, cut)]), document.parted([(cut, size + 9)])]
        assert "".join(half.text() for half in halves) == TEXT
        assert abs(halves[0].size - cut) <= 3
        assert document.parted([(0, cut), (cut, size)]).text() == TEXT
    assert document.parted([(2, 9), (11, 15)]).text() == TEXT.encode()[2:9].decode() + TEXT.encode()[11:15].decode()
    assert document.parted([(3, 40)]).parted([(1, 5)]).text() == TEXT.encode()[4:8].decode()


@pytest.mark.parametrize("word", ["é🌙", "x", "ab cd "])
def test_a_line_without_an_end_comes_in_parts_at_spaces_and_never_inside_of_a_character(word: str) -> None:
    data = (word * 40 + "\n" + "short\n" + word * 3).encode()
    parts = list(bounded(io.BytesIO(data), 16))
    assert b"".join(parts) == data
    assert all(0 < len(part) <= 16 and part.decode() for part in parts)
    assert b"short\n" in parts
    if " " in word:
        assert all(part.startswith((b" ", b"ab")) for part in parts[:10])


def test_bytes_that_begin_a_character_are_counted_off() -> None:
    for letter in ("a", "é", "€", "🌙"):
        data = b"xyz" + letter.encode()
        for end in range(3, len(data) + 1):
            assert whole_characters(data[:end]) == (len(data) if end == len(data) else 3)


def test_a_file_of_one_line_is_cut_into_pieces_that_are_tokenized_as_if_it_were_whole(tmp_path: Path) -> None:
    text = "".join(f"word {i}  and; " for i in range(60_000))
    assert len(text) > 3 * LONGEST_LINE_BYTES
    pieces = [piece for piece in Pieces([opened(tmp_path / "a.txt", text)]) if piece is not None]
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 2 * LONGEST_LINE_BYTES
    tokenizer = Tokenizer.train([text[:9_000]], "bpe", 300)
    assert [i for piece in pieces for i in tokenizer.encode([piece])[0]] == tokenizer.encode([text])[0]


def test_a_bad_byte_in_a_part_names_its_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n" * 100 + b"bad \xff\n")
    with pytest.raises(DataError, match="line 101: not valid UTF-8"):
        file_document(path).parted([(400, 600)]).text()
    path.write_bytes(b"x" * (LONGEST_LINE_BYTES + 5) + b"\n\xff")
    with pytest.raises(DataError, match="line 2: not valid UTF-8"):
        file_document(path).text()


def test_a_sample_is_bounded_and_even_over_files_and_records(tmp_path: Path) -> None:
    for name in range(4):
        (tmp_path / f"{name}.txt").write_text(f"{name}" * 1_000_000)
    sample = Sampled(TextFiles(tmp_path), most=1 << 19)
    counts = {letter: sum(document.text().count(letter) for document in sample) for letter in "0123"}
    assert sum(counts.values()) == sample.size == 1 << 19
    assert all(abs(count - (1 << 17)) <= 1 << 17 for count in counts.values())
    many = [in_memory("a", f"{i % 10}" * 10) for i in range(10_000)]
    kept = Sampled(many, most=5_000)
    text = "".join(document.text() for document in kept)
    assert len(text) == kept.size == 5_000
    whole = TextFiles(tmp_path)
    assert [document.name for document in Sampled(whole)] == [document.name for document in whole]


def test_examples_are_thinned_out_evenly_and_stay_together() -> None:
    pairs = [(f"s{i:04}", f"t{i:04}") for i in range(1_000)]
    assert evenly(pairs) == [text for pair in pairs for text in pair]
    some = evenly(iter(pairs), most=2_000)
    places = [int(text[1:]) for text in some[::2]]
    assert 1_000 < sum(map(len, some)) <= 2_000
    assert some[1::2] == [f"t{place:04}" for place in places]
    assert {after - before for before, after in itertools.pairwise(places)} == {8}
