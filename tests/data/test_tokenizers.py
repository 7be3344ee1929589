"""Tokenizers: exact round trips, fixed specials, the same tokenizer for the same texts."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
import tokenizers

from regard.data.tokenizers import END, LARGEST, PAD, SMALLEST, START, UNKNOWN, Kind, Tokenizer, suited
from regard.errors import DataError

KINDS: tuple[Kind, ...] = get_args(Kind)
EXACT: tuple[Kind, ...] = ("bpe", "unigram", "byte")
WORDS = "the cat sat on a mat while two small dogs were running über die Straße où l'été s'achève".split()
TRICKY = [
    "",
    " ",
    "  leading, double  and trailing  ",
    "tabs\tand\nnew\r\nlines\n",
    "e\u0301 is not é; nai\u0308ve",
    "👩‍👩‍👧 🇫🇷 🙂🏽",
    "<s>not special</s> <pad><unk> </s>",
    "## ##ing Ġ Ċ ▁ \u00a0\u202f\u2028",
    "नमस्ते 你好 שלום \x00\x7f\ufeff\ufffd",
]


def corpus(lines: int = 400) -> list[str]:
    chosen = random.Random(5)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(3, 12))).capitalize() + "." for _ in range(lines)]


def invented(lines: int = 1_500) -> list[str]:
    """Sentences of invented words, many of them rare and many equally frequent: where ties are, order shows."""
    chosen = random.Random(6)
    words = ["".join(chosen.choices("aeioubdklmnrstéß", k=chosen.randint(2, 9))) for _ in range(800)]
    return [" ".join(chosen.choices(words, k=8)) for _ in range(lines)]


@pytest.fixture(scope="module")
def trained() -> dict[Kind, Tokenizer]:
    return {kind: Tokenizer.train(corpus(), kind) for kind in KINDS}


def any_text(chosen: random.Random) -> str:
    """Characters of every plane, and of the plain ones, in random company; surrogates are no characters."""
    ranges = [(0x20, 0x7F), (0, 0x300), (0x300, 0x370), (0x2000, 0x3000), (0, 0xD800), (0xE000, 0x110000)]
    letters = [chr(chosen.randrange(*chosen.choice(ranges))) for _ in range(chosen.randrange(40))]
    return "".join(chosen.choices([*letters, " ", "\n", "</s>", "the"], k=len(letters)))


@pytest.mark.parametrize("kind", EXACT)
def test_any_text_comes_back_exactly(trained: dict[Kind, Tokenizer], kind: Kind) -> None:
    chosen = random.Random(1)
    texts = TRICKY + corpus(20) + [any_text(chosen) for _ in range(500)]
    rows = trained[kind].encode(texts)
    assert trained[kind].decode_batch(rows) == texts
    assert [trained[kind].decode(row) for row in rows] == texts
    assert all(i > UNKNOWN for row in rows for i in row)


@pytest.mark.parametrize("kind", EXACT)
def test_a_corpus_full_of_special_strings_still_makes_them_no_special_ids(kind: Kind) -> None:
    texts = ["<s> a </s>", "<pad><unk>", "</s></s><s>x"] * 200
    tokenizer = Tokenizer.train(texts, kind)
    rows = tokenizer.encode(texts)
    assert tokenizer.decode_batch(rows) == texts
    assert all(i > UNKNOWN for row in rows for i in row)


@pytest.mark.parametrize("kind", ["wordpiece", "word", "char"])
def test_the_text_of_a_special_token_never_becomes_its_id(kind: Kind) -> None:
    tokenizer = Tokenizer.train(["<s> a </s> <pad>"] * 50, kind)
    (row,) = tokenizer.encode(["<s></s><pad>"])
    assert not {PAD, START, END, UNKNOWN} & set(row)


def test_characters_come_back_exactly_where_they_are_known(trained: dict[Kind, Tokenizer]) -> None:
    texts = corpus()
    assert trained["char"].decode_batch(trained["char"].encode(texts)) == texts
    assert trained["char"].encode(["a🙂t"])[0][1] == UNKNOWN


def test_words_come_back_and_unknown_ones_are_unknown(trained: dict[Kind, Tokenizer]) -> None:
    (row,) = trained["word"].encode(["the zebra sat."])
    assert [trained["word"].token(i) for i in row] == ["the", "<unk>", "sat", "."]
    assert trained["word"].decode(trained["word"].encode(["two cat sat."])[0]) == "two cat sat."


def test_wordpiece_builds_unseen_words_from_pieces(trained: dict[Kind, Tokenizer]) -> None:
    (row,) = trained["wordpiece"].encode(["smallest mat"])
    assert len(row) > 2
    assert UNKNOWN not in row
    assert trained["wordpiece"].decode(row) == "smallest mat"


def test_a_byte_has_the_id_of_its_value_and_four(trained: dict[Kind, Tokenizer]) -> None:
    assert trained["byte"].encode(["aé\x00"]) == [[byte + 4 for byte in "aé\x00".encode()]]
    assert trained["byte"].vocabulary == 260


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_have_fixed_ids_and_are_dropped_from_text(trained: dict[Kind, Tokenizer], kind: Kind) -> None:
    tokenizer = trained[kind]
    assert [tokenizer.token(i) for i in (PAD, START, END, UNKNOWN)] == ["<pad>", "<s>", "</s>", "<unk>"]
    (row,) = tokenizer.encode(["the cat"])
    assert tokenizer.decode([START, *row, END, PAD, PAD]) == "the cat"


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_tokenizer_comes_back_equal(trained: dict[Kind, Tokenizer], kind: Kind, tmp_path: Path) -> None:
    tokenizer = trained[kind]
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
    assert loaded == tokenizer
    assert (loaded.kind, loaded.vocabulary, loaded.fingerprint) == (kind, tokenizer.vocabulary, tokenizer.fingerprint)
    assert loaded.encode(TRICKY) == tokenizer.encode(TRICKY)
    assert loaded.pieces(TRICKY[2]) == tokenizer.pieces(TRICKY[2])


def test_different_tokenizers_have_different_fingerprints(trained: dict[Kind, Tokenizer]) -> None:
    assert len({tokenizer.fingerprint for tokenizer in trained.values()}) == len(KINDS)


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests.data.test_tokenizers import KINDS, Tokenizer, invented
for kind in KINDS:
    print(kind, Tokenizer.train(invented(), kind).fingerprint)
"""


def test_the_same_texts_give_the_same_tokenizer_whatever_the_hash_seed_and_threads() -> None:
    script = SCRIPT.format(root=str(Path(__file__).parents[2]))
    runs = set()
    for seed, threads in (("1", "1"), ("2", "2"), ("3", "3")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        runs.add(run.stdout)
    assert len(runs) == 1


def test_pieces_cover_the_text_and_parts_of_a_character_share_its_place(trained: dict[Kind, Tokenizer]) -> None:
    text = "the 🙂é cat "
    for kind in EXACT:
        tokenizer = trained[kind]
        pieces = tokenizer.pieces(text)
        assert [i for i, _, _ in pieces] == tokenizer.encode([text])[0]
        assert pieces[0][1] == 0
        assert pieces[-1][2] == len(text)
        assert all(start < end for _, start, end in pieces)
        assert all(start <= after <= end for (_, start, end), (_, after, _) in pairwise(pieces))
    smile = [(start, end) for i, start, end in trained["byte"].pieces(text) if start == 4]
    assert smile == [(4, 5)] * len("🙂".encode())


def test_word_pieces_know_their_place_without_the_spaces(trained: dict[Kind, Tokenizer]) -> None:
    text = "  the   cat."
    assert [text[start:end] for _, start, end in trained["word"].pieces(text)] == ["the", "cat", "."]


def test_tokens_read_as_text_and_half_characters_as_bytes(trained: dict[Kind, Tokenizer]) -> None:
    tokenizer = trained["bpe"]
    (row,) = tokenizer.encode(["The cat die straße."])
    assert [tokenizer.token(i) for i in row] == ["The", " cat", " die", " straße", "."]
    assert [tokenizer.token(i) for i in tokenizer.encode(["🙂"])[0]] == ["\\xf0", "\\x9f", "\\x99", "\\x82"]
    for wrong in (-1, tokenizer.vocabulary):
        with pytest.raises(ValueError, match="not in the vocabulary"):
            tokenizer.token(wrong)


def test_every_id_has_a_readable_token(trained: dict[Kind, Tokenizer]) -> None:
    for tokenizer in trained.values():
        tokens = [tokenizer.token(i) for i in range(tokenizer.vocabulary)]
        assert all(tokens)
        assert not any(unicodedata.category(letter) == "Cs" for token in tokens for letter in token)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "word", "char"])
def test_a_given_size_is_not_exceeded(kind: Kind) -> None:
    size = 30 if kind in ("word", "char") else 300
    assert Tokenizer.train(corpus(), kind, size).vocabulary <= size


def test_the_size_grows_with_the_corpus_within_bounds() -> None:
    assert suited(0) == SMALLEST
    assert suited(240_000) == pytest.approx(4_000, rel=0.05)
    assert 8_000 * 0.95 <= suited(700_000) <= 10_000
    assert suited(10**9) == LARGEST
    sizes = [suited(words) for words in range(0, 20_000_000, 50_000)]
    assert sizes == sorted(sizes)


def test_a_one_time_iterator_trains_the_same_tokenizer(trained: dict[Kind, Tokenizer]) -> None:
    assert Tokenizer.train(iter(corpus())) == trained["bpe"]


def test_progress_is_told_and_an_error_in_the_texts_comes_through() -> None:
    told: list[str] = []
    Tokenizer.train(corpus(), progress=told.append)
    assert "learning subwords" in told

    class Broken:
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield from corpus()
            raise DataError("train.tsv, line 401: no tab")

    with pytest.raises(DataError, match="line 401"):
        Tokenizer.train(Broken(), size=500)


def test_an_unknown_kind_or_a_wrong_size_is_named() -> None:
    with pytest.raises(ValueError, match="did you mean 'bpe'"):
        Tokenizer.train(corpus(), "bpee")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a vocabulary of 4"):
        Tokenizer.train(corpus(), size=4)
    with pytest.raises(ValueError, match="a byte tokenizer has 260 tokens, not 300"):
        Tokenizer.train(corpus(), "byte", 300)


def test_special_tokens_from_elsewhere_are_known_by_their_names() -> None:
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    backend.add_special_tokens(["[UNK]", "[SEP]", "[CLS]", "[MASK]", "[PAD]"])
    tokenizer = Tokenizer(backend)
    assert (tokenizer.unknown, tokenizer.end, tokenizer.start, tokenizer.mask, tokenizer.pad) == (1, 2, 3, 4, 5)
    assert tokenizer.opens
    assert tokenizer.framed([0]).tolist() == [3, 0, 2]


def test_the_end_stands_in_for_what_is_missing() -> None:
    backend = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    backend.add_special_tokens(["<|endoftext|>"])
    tokenizer = Tokenizer(backend)
    assert (tokenizer.start, tokenizer.pad, tokenizer.end) == (1, 1, 1)
    assert (tokenizer.unknown, tokenizer.mask, tokenizer.opens) == (None, None, False)


def test_a_damaged_or_foreign_file_is_named(trained: dict[Kind, Tokenizer], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(DataError, match=r"tokenizer\.json: the tokenizer cannot be read"):
        Tokenizer.load(path)
    for text in (trained["bpe"].to_json()[:-50], "{}", trained["bpe"].to_json().replace("</s>", "<stop>")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"tokenizer\.json: "):
            Tokenizer.load(path)
