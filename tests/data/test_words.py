"""Words of scripts with spaces and without them."""

from __future__ import annotations

import pytest

from regard.data.words import unspaced, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a cat's  tail.", ["a", "cat's", "tail."]),
        ("我喜欢 cats。", ["我", "喜", "欢", "cats。"]),
        ("コーヒー", ["コー", "ヒー"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("", []),
    ],
)
def test_words_are_parted_as_their_script_parts_them(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("texts", "script"),
    [
        (["ein Hund", "eine Katze"], ""),
        (["我喜欢猫。", "他有一只狗。"], "han"),
        (["猫が好きです。"], "other"),
        (["แมวตัวหนึ่ง"], "other"),
        (["고양이가 잔다"], ""),
        (["he wrote 猫 on the wall"], ""),
        (["1 2 3"], ""),
        ([], ""),
    ],
)
def test_the_script_of_most_letters_decides(texts: list[str], script: str) -> None:
    assert unspaced(texts) == script
