"""Masks say what is visible, by position, and refuse what does not fit."""

from __future__ import annotations

import pytest
import torch

from regard.nn.call.masks import Mask, positions_of, real_tokens

PLACES = torch.arange(4)


def dense(mask: Mask) -> list[list[int]]:
    matrix = mask.dense(PLACES, PLACES)
    assert matrix is not None
    return matrix[0, 0].int().tolist()


def test_a_causal_mask_shows_the_past_and_the_token_itself() -> None:
    assert dense(Mask(causal=True)) == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_a_window_shows_the_neighbours() -> None:
    assert dense(Mask(window=1)) == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert dense(Mask(causal=True, window=1)) == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]


def test_a_prefix_is_visible_to_all() -> None:
    mask = Mask(causal=True, prefix=torch.tensor([2]))
    assert dense(mask) == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_padding_is_invisible() -> None:
    mask = Mask(causal=True, keys=torch.tensor([[True, True, False, True]]))
    assert dense(mask) == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 1]]


def test_any_mask_can_be_added() -> None:
    pairs = torch.eye(4, dtype=torch.bool)
    assert dense(Mask(pairs=pairs)) == pairs.int().tolist()
    per_head = torch.stack([pairs, ~pairs])[None]
    both = Mask(causal=True, pairs=per_head).dense(PLACES, PLACES)
    assert both is not None
    assert both.shape == (1, 2, 4, 4)
    assert both[0, 1].int().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]


def test_where_all_is_visible_no_mask_is_built() -> None:
    assert Mask().dense(PLACES, PLACES) is None
    assert Mask(causal=True).dense(PLACES[3:], PLACES) is None  # the newest of four tokens


def test_positions_skip_padding_on_either_side() -> None:
    left = torch.tensor([[False, False, True, True]])
    assert positions_of(left).tolist() == [[0, 0, 0, 1]]
    assert positions_of(left.flip(1)).tolist() == [[0, 1, 1, 1]]
    assert real_tokens(torch.tensor([2]), 4).tolist() == [[True, True, False, False]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mask(keys=torch.ones(1, 3, dtype=torch.bool)).dense(PLACES, PLACES), r"\(1, 3\) does not fit 4 keys"),
        (lambda: Mask(pairs=torch.ones(3, 4, dtype=torch.bool)).dense(PLACES, PLACES), r"\(3, 4\) does not fit 4 qu"),
        (lambda: Mask(keys=torch.ones(1, 4)), r"torch\.float32; it takes booleans"),
        (lambda: Mask(keys=torch.ones(4, dtype=torch.bool)), r"shape \(4,\); it takes 2 dimensions"),
        (lambda: Mask(pairs=torch.ones(4, dtype=torch.bool)), r"shape \(4,\); it takes \(T, S\)"),
        (lambda: Mask(window=-1), r"a window of -1 is not allowed"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused_with_its_shape(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()
