"""Scores of translations into and out of scripts without spaces; tests/test_translate.py has the others."""

from __future__ import annotations

import pytest

from regard.metrics.translations import bleu, bleu_by_length, compare, score


@pytest.mark.parametrize(
    ("reference", "nearly", "cut"),
    [
        ("我们今天去公园散步。", "我们今天去公园跑步。", "zh"),
        ("今日は公園へ行きます。", "今日は公園に行きます。", "char"),
    ],
)
def test_a_script_without_spaces_is_scored_by_its_characters(reference: str, nearly: str, cut: str) -> None:
    found = score([nearly], [reference])
    assert 20 < found["BLEU"].value < 100
    assert f"tok:{cut}" in found["BLEU"].signature
    assert found["TER"].value < 40
    assert bleu([nearly], [reference]) == found["BLEU"].value
    assert compare([nearly] * 3, [reference] * 3, [reference] * 3)["BLEU"].value == pytest.approx(found["BLEU"].value)


def test_characters_of_a_source_without_spaces_are_its_length() -> None:
    assert [row[0] for row in bleu_by_length(["我们今天去公园散步"], ["a b c d"], ["a b c d"])] == ["6–10"]
