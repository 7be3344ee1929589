"""Pieces come apart into what they were merged of: other tokens, the same text."""

from __future__ import annotations

import numpy as np
import pytest

from regard.data.catalogue import open_data
from regard.data.splitting import Splitter
from regard.data.tokenizers import Tokenizer

TEXTS = [pair.target for pair in open_data("phrasebook", "en-fr", "train", 200)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, "bpe", 600)


def rows(tokenizer: Tokenizer) -> list[np.ndarray]:
    return [np.array(row) for row in tokenizer.encode(TEXTS)]


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_text_stays_and_the_pieces_get_shorter(tokenizer: Tokenizer, rate: float) -> None:
    split = Splitter(tokenizer.halves(), rate)(rows(tokenizer), np.random.default_rng(0))
    assert tokenizer.decode_batch(split) == TEXTS
    assert sum(map(len, split)) > sum(map(len, rows(tokenizer)))


def test_pieces_are_split_as_often_as_asked(tokenizer: Tokenizer) -> None:
    halves = tokenizer.halves()
    merged = next(i for i in range(len(halves)) if halves[i, 0] >= 0 and (halves[halves[i], 0] < 0).all())
    split = Splitter(halves, 0.2)([np.full(10_000, merged)], np.random.default_rng(0))[0]
    assert len(split) - 10_000 == pytest.approx(2_000, abs=150)
    assert set(split.tolist()) == {merged, *halves[merged].tolist()}


def test_a_rate_of_nearly_one_leaves_single_characters(tokenizer: Tokenizer) -> None:
    halves = tokenizer.halves()
    split = Splitter(halves, 1 - 1e-12)(rows(tokenizer), np.random.default_rng(0))
    assert (halves[np.concatenate(split)] == -1).all()


def test_the_same_seed_splits_the_same(tokenizer: Tokenizer) -> None:
    splitter = Splitter(tokenizer.halves(), 0.3)
    one, same, other = (splitter(rows(tokenizer), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert [row.tolist() for row in one] == [row.tolist() for row in same]
    assert [row.tolist() for row in one] != [row.tolist() for row in other]


def test_an_empty_row_stays_in_its_place(tokenizer: Tokenizer) -> None:
    given = [np.array([], dtype=np.int64), *rows(tokenizer)[:2], np.array([], dtype=np.int64)]
    split = Splitter(tokenizer.halves(), 0.5)(given, np.random.default_rng(0))
    assert tokenizer.decode_batch(split) == ["", *TEXTS[:2], ""]


def test_other_kinds_have_nothing_to_split() -> None:
    with pytest.raises(ValueError, match="a word tokenizer merges no pieces; splitting them takes bpe"):
        Tokenizer.train(TEXTS, "word").halves()
