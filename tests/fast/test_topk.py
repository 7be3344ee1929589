"""The quick search for the highest values against PyTorch's."""

from __future__ import annotations

import pytest
import torch

from regard.fast import topk
from regard.fast.topk import likeliest, linear_best_words


@pytest.mark.parametrize("words", [3, 40, 5_000, 4_096, 10_000, 10_007])
@pytest.mark.parametrize("count", [1, 2, 8, 50])
def test_it_finds_what_topk_finds(words: int, count: int) -> None:
    logits = torch.randn(7, words)
    logits[:, :2] = float("-inf")
    values, places = likeliest(logits, count)
    expected = logits.topk(min(count, words))
    assert torch.equal(values, expected.values)
    assert torch.equal(logits.gather(1, places), values)
    assert all(len(set(row)) == len(row) for row in places.tolist())


def test_equal_values_are_named_once_each() -> None:
    values, places = likeliest(torch.zeros(2, 9_003), 6)
    assert values.tolist() == [[0.0] * 6] * 2
    assert all(len(set(row)) == 6 for row in places.tolist())


def test_neighbours_in_one_column_are_all_found() -> None:
    logits = torch.zeros(1, 8_000)
    logits[0, 5::1000] = torch.arange(1.0, 9.0)
    assert likeliest(logits, 8)[1].tolist() == [[5 + 1000 * i for i in reversed(range(8))]]


@pytest.mark.parametrize("words", [5, 900, 10_007])
@pytest.mark.parametrize("rows", [1, 3, 300])
@pytest.mark.parametrize("barred", [None, 0, 4])
@pytest.mark.parametrize("level", [0.0, 200.0, -200.0])
@pytest.mark.parametrize("at_once", [topk.LOGITS_AT_ONCE, 1 << 12])
def test_slices_give_what_all_logits_give(
    words: int, rows: int, barred: int | None, level: float, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topk, "LOGITS_AT_ONCE", at_once)
    hidden, weight, bias = torch.randn(rows, 16), torch.randn(words, 16), torch.randn(words) + level
    bias[4] += 50.0  # so that barring it matters
    values, places, totals = linear_best_words(hidden, weight, bias, 4, barred)
    logits = torch.nn.functional.linear(hidden, weight, bias)
    torch.testing.assert_close(totals, logits.logsumexp(-1))
    if barred is not None:
        logits[:, barred] = float("-inf")
    expected = logits.topk(4)
    torch.testing.assert_close(values, expected.values)
    assert torch.equal(places, expected.indices)


def test_a_slice_of_nothing_but_the_barred_word_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topk, "LOGITS_AT_ONCE", 1)
    hidden, weight = torch.randn(3, 5), torch.randn(9, 5)  # slices of four, four and one
    values, places, totals = linear_best_words(hidden, weight, None, 4, barred=8)
    logits = hidden @ weight.T
    torch.testing.assert_close(totals, logits.logsumexp(-1))
    expected = logits[:, :8].topk(4)
    torch.testing.assert_close(values, expected.values)
    assert torch.equal(places, expected.indices)
