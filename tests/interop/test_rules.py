"""What a tensor of ours is made of, and what it is taken apart into again."""

from __future__ import annotations

import pytest
import torch

from regard.interop.rules import fused, unfused
from regard.nn.positions import HeadDims


@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("paired", [False, True])
def test_queries_keys_and_values_come_back_from_the_one_that_they_are_joined_to(groups: int, paired: bool) -> None:
    dims = HeadDims(32, 4, groups, 8, 6)
    pieces = [torch.randn(rows, 32) for rows in (4 * 8, groups * 8, groups * 6)]
    own = fused(pieces, dims, paired)
    assert own.shape == (sum(map(len, pieces)), 32)
    for piece, again in zip(pieces, unfused(own, dims, paired), strict=True):
        assert torch.equal(piece, again)


def test_pairs_of_a_head_that_are_apart_elsewhere_are_neighbours_here() -> None:
    """Four query heads and two key heads of four values each, numbered."""
    dims = HeadDims(1, 4, 2, 4, 1)
    own = fused([torch.arange(16.0)[:, None], 100 + torch.arange(8.0)[:, None], torch.zeros(2, 1)], dims, paired=True)
    first, second = own[:, 0].split(13)
    assert first.tolist() == [0, 2, 1, 3, 4, 6, 5, 7, 100, 102, 101, 103, 0]
    assert second.tolist() == [8, 10, 9, 11, 12, 14, 13, 15, 104, 106, 105, 107, 0]
