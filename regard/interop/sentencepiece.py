"""SentencePiece's `spiece.model` as our tokenizer: pieces with scores, in protobuf's form, which is read by itself.

A message is a row of fields, each a key (number and form) and a value. Only what is needed of it is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.data.tokenizers import closing_template
from regard.errors import DataError

MODEL = "spiece.model"
SPACE = "▁"  # how a piece begins that has a space in front
PIECES, TRAINER, NORMALIZER = 1, 2, 3  # fields of the whole
PIECE, SCORE, TYPE = 1, 2, 3  # of a piece
MODEL_TYPE, UNIGRAM = 3, 1  # of how it was trained
CHARACTERS = 2  # of how it normalises: which characters are taken for others
UNKNOWN, ORDINARY = 2, 1  # types of pieces


@dataclass(frozen=True)
class ScoredPiece:
    text: str
    score: float
    type: int


def sentencepiece(path: Path, about: Mapping[str, Any]) -> tuple[tokenizers.Tokenizer, list[str]]:
    """The tokenizer and its special pieces. Accents are taken off and quotes made plain, as XLNet does, unless the
    files beside it say otherwise."""
    try:
        pieces, characters = read_pieces(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, struct.error) as error:
        raise DataError(f"{path} is no whole model of SentencePiece ({error}); copy it again") from None
    unknown = next((i for i, piece in enumerate(pieces) if piece.type == UNKNOWN), None)
    if unknown is None:
        raise DataError(f"{path} has no unknown piece: it is no model of SentencePiece")
    backend = tokenizers.Tokenizer(models.Unigram([(one.text, one.score) for one in pieces], unknown, False))
    backend.normalizer = normalizer(characters, about)
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(SPACE, prepend_scheme="always")]
    )
    backend.decoder = decoders.Metaspace(SPACE, prepend_scheme="always")
    start, end = backend.token_to_id("<cls>"), backend.token_to_id("<sep>")
    if start is not None and end is not None:
        backend.post_processor = closing_template("<cls>", "<sep>", start, end)
    return backend, [one.text for one in pieces if one.type != ORDINARY]


def normalizer(characters: bytes, about: Mapping[str, Any]) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not about.get("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if about.get("do_lower_case", False):
        steps.append(normalizers.Lowercase())
    if characters:
        steps.append(normalizers.Precompiled(characters))
    return normalizers.Sequence(steps)


def read_pieces(data: bytes) -> tuple[list[ScoredPiece], bytes]:
    """The pieces by id, and the table of characters that are taken for others."""
    pieces: list[ScoredPiece] = []
    characters = b""
    for number, value in fields(data):
        if number == PIECES:
            found = dict(fields(value))
            pieces.append(ScoredPiece(found[PIECE].decode("utf-8"), found.get(SCORE, 0.0), found.get(TYPE, ORDINARY)))
        elif number == NORMALIZER:
            characters = dict(fields(value)).get(CHARACTERS, b"")
        elif number == TRAINER and dict(fields(value)).get(MODEL_TYPE, UNIGRAM) != UNIGRAM:
            raise ValueError("its pieces are merged, not scored: only unigram models are read")
    if not pieces:
        raise ValueError("it has no pieces")
    return pieces, characters


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field: a whole number, bytes, or a number of single or double precision."""
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        number, form = key >> 3, key & 7
        if form == 0:
            value, place = varint(data, place)
            yield number, value
        elif form == 2:
            size, place = varint(data, place)
            if place + size > len(data):
                raise ValueError("it ends in the middle")
            yield number, data[place : place + size]
            place += size
        elif form in (1, 5):
            size = 8 if form == 1 else 4
            yield number, struct.unpack("<d" if form == 1 else "<f", data[place : place + size])[0]
            place += size
        else:
            raise ValueError(f"there is no field of form {form}")


def varint(data: bytes, place: int) -> tuple[int, int]:
    """A whole number, seven bits a byte, the lowest first; and where it ends."""
    value = shift = 0
    while True:
        if place >= len(data):
            raise ValueError("it ends in the middle")
        byte, place = data[place], place + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
