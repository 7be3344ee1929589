"""A text comes apart at the ends of its sentences, and no word is lost."""

from __future__ import annotations

import pytest

from regard.data.sentences import fitting, sentence_spans, sentence_tokens
from regard.data.tokenizers import END, Tokenizer


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("Version 3.5 is out.", ["Version 3.5 is out."]),
        ("A line\nanother\n\n  and one  more ", ["A line", "another", "and one  more"]),
        ("很好。真的！", ["很好。", "真的！"]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_every_sentence_ends_with_the_end_token_and_an_empty_text_is_one_sentence() -> None:
    tokenizer = Tokenizer.train(["a b . c"] * 2, "word")
    (first, empty) = sentence_tokens(tokenizer, ["a b. c", ""])
    assert [[*tokenizer.encode(["a b ."])[0], END], [*tokenizer.encode(["c"])[0], END]] == first
    assert empty == [[END]]


def test_what_does_not_fit_is_left_out_sentence_by_sentence() -> None:
    sentences = [[5, 6, END], [7, END], [8, 9, END]]
    assert fitting(sentences, 8) == ([5, 6, END, 7, END, 8, 9, END], True)
    assert fitting(sentences, 7) == ([5, 6, END, 7, END], False)
    assert fitting(sentences, 2) == ([5, END], False)
