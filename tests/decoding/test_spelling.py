"""Text as it comes: nothing that changes later is handed out, and nothing is lost."""

from __future__ import annotations

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers

from regard.data.tokenizers import SPECIALS, Tokenizer
from regard.decoding.spelling import Spelling, Stops

BYTES = Tokenizer.train([], "byte")


def marked() -> Tokenizer:
    """As SentencePiece spells: a space is a part of the word behind it, and the first one is dropped."""
    words = [*SPECIALS, "▁Once", "▁upon", "▁a", "▁time", "s", "."]
    backend = tokenizers.Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.add_special_tokens(list(SPECIALS))
    return Tokenizer(backend)


@given(st.lists(st.integers(0, 255)), st.text(max_size=5))
def test_any_bytes_are_spelt_as_they_are_at_once(some: list[int], prompt: str) -> None:
    ids, before = [byte + len(SPECIALS) for byte in some], BYTES.encode([prompt])[0]
    spelling = Spelling(BYTES, before)
    assert "".join([*(spelling.add(i) for i in ids), spelling.rest()]) == BYTES.decode([*before, *ids])[len(prompt) :]


@given(st.text())
def test_every_piece_of_a_text_is_whole(text: str) -> None:
    spelling, so_far = Spelling(BYTES), ""
    for i in BYTES.encode([text])[0]:
        so_far += spelling.add(i)
        assert text.startswith(so_far)
    assert so_far + spelling.rest() == text


def test_a_space_before_a_word_is_kept_where_the_prompt_ended() -> None:
    tokenizer = marked()
    once, upon, a, time, s, dot = range(4, 10)
    fresh, later = Spelling(tokenizer), Spelling(tokenizer, [once])
    assert [fresh.add(i) for i in (once, upon)] == ["Once", " upon"]
    assert [later.add(i) for i in (upon, a, time, s, dot)] == [" upon", " a", " time", "s", "."]


@pytest.mark.parametrize(
    ("stops", "pieces", "given_out"),
    [
        (["END"], ["a E", "N", "Dx"], ["a ", "", ""]),
        (["END"], ["a E", "N", "x"], ["a ", "", "ENx"]),
        (["END"], ["EEN", "D"], ["E", ""]),
        (["b", "abc"], ["a", "b"], ["", "a"]),  # the first that comes is not the first that began
        (["aab"], ["a", "a", "a", "b"], ["", "", "a", ""]),
        (["\n\n"], ["one\n", "two\n", "\nthree"], ["one", "\ntwo", ""]),
        ([], ["a", "b"], ["a", "b"]),
    ],
)
def test_what_may_become_a_stop_string_is_held_back(stops: list[str], pieces: list[str], given_out: list[str]) -> None:
    found = Stops(stops)
    assert [found.add(piece) for piece in pieces] == given_out


STOPS = st.lists(st.text("ab", min_size=1, max_size=3), max_size=3)


@given(st.lists(st.text("ab", max_size=4)), STOPS)
@example(["", "", "aba"], ["b", "aba"])
def test_however_a_text_is_cut_it_ends_before_the_first_stop_string(pieces: list[str], strings: list[str]) -> None:
    """The first is the one that begins first in the shortest text, in whole pieces, that holds any."""
    texts = ["".join(pieces[:count]) for count in range(len(pieces) + 1)]
    stopped = next((text for text in texts if any(string in text for string in strings)), None)
    expected = texts[-1] if stopped is None else stopped[: min(stopped.find(s) for s in strings if s in stopped)]
    stops = Stops(strings)
    found = "".join(stops.add(piece) for piece in pieces)
    assert stops.met == (stopped is not None)
    assert found + stops.rest() == expected


@given(st.text("ab", max_size=12), STOPS)
def test_letter_by_letter_a_text_ends_before_the_stop_string_that_ends_first(text: str, strings: list[str]) -> None:
    ends = (n for n in range(len(text) + 1) if any(text[:n].endswith(string) for string in strings))
    end = next(ends, None)
    expected = text if end is None else text[: min(text[:end].find(s) for s in strings if s in text[:end])]
    stops = Stops(strings)
    found = "".join(stops.add(letter) for letter in text)
    assert stops.met == (end is not None)
    assert found + stops.rest() == expected


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(ValueError, match="a stop string is empty"):
        Stops(["a", ""])
