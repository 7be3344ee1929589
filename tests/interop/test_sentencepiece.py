"""SentencePiece's own files: read as `transformers` reads the same pieces; broken ones are named."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

transformers = pytest.importorskip("transformers")

from regard.errors import DataError  # noqa: E402
from regard.interop.vocabularies import read_tokenizer  # noqa: E402
from tests.interop import foreign  # noqa: E402

TEXTS = ["the little girl had a red ball.", "A ``réd'' ball,  played!", "xyz"]


def varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def message(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text: str, score: float, kind: int) -> bytes:
    return message(
        1, message(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + varint(3 << 3) + varint(kind)
    )


def model(trained: int = 1) -> bytes:
    """As XLNet's: the unknown piece, control pieces, ordinary ones; how it was trained; how it normalises."""
    kinds = [2, *[3] * 8, *[1] * (len(foreign.SCORED) - 9)]
    pieces = b"".join(piece(text, score, kind) for (text, score), kind in zip(foreign.SCORED, kinds, strict=True))
    return pieces + message(2, varint(3 << 3) + varint(trained)) + message(3, message(1, b"nmt_nfkc"))


def test_pieces_and_ids_are_those_of_transformers(tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(model())
    ours, theirs = read_tokenizer(tmp_path), transformers.XLNetTokenizer(vocab=foreign.SCORED, unk_id=0)
    for text in TEXTS:
        ids = ours.encode([text])[0]
        assert ids == theirs(text, add_special_tokens=False).input_ids
        assert ours.framed(ids).tolist() == theirs(text).input_ids
    assert ours.specials == frozenset(range(9))
    assert ours.token(ours.encode(["the"])[0][0]) == " the"
    assert ours.decode(ours.encode(["the little girl"])[0]) == "the little girl"


def test_what_is_said_beside_it_counts(tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(model())
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    lower = read_tokenizer(tmp_path)
    assert lower.encode(["THE BALL"]) == lower.encode(["the ball"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (model()[:-3], "no whole model of SentencePiece .it ends in the middle."),
        (b"", "it has no pieces"),
        (b"\xff\xff", "it ends in the middle"),
        (model(2), "only unigram models are read"),
        (piece("a", 0.0, 1), "has no unknown piece"),
    ],
)
def test_broken_files_are_named(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_tokenizer(tmp_path)
