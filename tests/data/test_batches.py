"""Batches: every example once, within the budget, the same for the same seed, resumable anywhere."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.data import batches as module
from regard.data.batches import Batches, pad


def lengths(count: int = 5_000, seed: int = 0) -> list[NDArray[np.int64]]:
    """Sentences and translations of about the same length, as in real corpora."""
    random = np.random.default_rng(seed)
    source = random.gamma(8, 2, count).astype(np.int64) + 1
    target = np.maximum(1, (source * random.normal(1.1, 0.15, count)).astype(np.int64))
    return [source, target]


def same(one: list[NDArray[np.int64]], other: list[NDArray[np.int64]]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("pool", [64, 1 << 16])
@pytest.mark.parametrize("budget", [120, 1_000, 100_000])
def test_every_example_comes_exactly_once_an_epoch(monkeypatch: pytest.MonkeyPatch, pool: int, budget: int) -> None:
    monkeypatch.setattr(module, "POOL_ROWS", pool)
    monkeypatch.setattr(module, "POOL_BATCHES", 4)
    batches = Batches(lengths(), budget, seed=1)
    for epoch in range(3):
        assert np.array_equal(np.sort(np.concatenate(batches.epoch(epoch))), np.arange(5_000))


@pytest.mark.parametrize("max_rows", [None, 7])
def test_no_batch_exceeds_the_budget_or_the_rows(max_rows: int | None) -> None:
    sides = lengths()
    for indices in Batches(sides, 500, seed=1, max_rows=max_rows).epoch(0):
        assert 1 <= len(indices) <= (max_rows or 500)
        assert len(indices) * max(int(side[indices].max()) for side in sides) <= 500


def test_batches_are_as_full_as_they_can_be() -> None:
    sides = [np.full(1_000, 10), np.full(1_000, 7)]
    assert [len(indices) for indices in Batches(sides, 100, seed=1).epoch(0)] == [10] * 100


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    first, second = Batches(lengths(), 500, seed=1), Batches(lengths(), 500, seed=1)
    second.epoch(3)
    assert same(first.epoch(2), second.epoch(2))
    assert not same(first.epoch(2), first.epoch(3))
    assert not same(first.epoch(2), Batches(lengths(), 500, seed=2).epoch(2))
    assert not same(Batches(lengths(), 500, seed=1).epoch(2), Batches(lengths(), 500, seed=2).epoch(1))


def test_examples_meet_others_in_another_epoch() -> None:
    batches = Batches(lengths(), 500, seed=1)
    company = [
        {frozenset(indices.tolist()) for indices in batches.epoch(epoch) if len(indices) > 1} for epoch in (0, 1)
    ]
    assert len(company[0] & company[1]) < 0.1 * len(company[0])  # the very longest have no others


def test_short_batches_do_not_come_before_long_ones() -> None:
    sides = lengths()
    means = [sides[1][indices].mean() for indices in Batches(sides, 500, seed=1).epoch(0)]
    half = len(means) // 2
    assert np.mean(means[:half]) == pytest.approx(np.mean(means[half:]), rel=0.1)


@pytest.mark.parametrize("stop", [0, 1, 17, -1])
def test_iteration_resumes_anywhere_as_if_it_had_never_stopped(stop: int) -> None:
    whole = Batches(lengths(500), 500, seed=4)
    steps = whole.steps(0)
    stop = stop % steps
    uninterrupted = list(islice(whole.iterate(), 3 * steps))
    assert [place[:2] for place in uninterrupted[: steps + 1]] == [*((0, step) for step in range(steps)), (1, 0)]
    for begun in (stop, steps + stop):
        epoch, step, _ = uninterrupted[begun]
        resumed = Batches(lengths(500), 500, seed=4).iterate(epoch, step)
        for expected, (epoch, step, indices) in zip(uninterrupted[begun:], resumed, strict=False):
            assert (epoch, step) == expected[:2]
            assert np.array_equal(indices, expected[2])


def test_resuming_behind_the_last_step_of_an_epoch_begins_the_next() -> None:
    batches = Batches(lengths(500), 500, seed=4)
    assert next(batches.iterate(0, batches.steps(0)))[:2] == (1, 0)


def test_padding_is_the_share_that_padding_has_in_the_padded_batches() -> None:
    sides = lengths(400)
    batches = Batches(sides, 300, seed=1)
    padded = sum(len(indices) * int(side[indices].max()) for indices in batches.epoch(0) for side in sides)
    assert batches.padding(0) == pytest.approx(1 - sum(int(side.sum()) for side in sides) / padded)
    assert Batches([np.full(90, 5), np.full(90, 3)], 50, seed=1).padding(0) == 0


def test_little_is_padding() -> None:
    sides = lengths(30_000)
    grouped = Batches(sides, 4_096, seed=1).padding(0)
    order = np.random.default_rng(1).permutation(30_000).reshape(-1, 100)
    padded = sum(100 * int(side[rows].max()) for rows in order for side in sides)
    assert 1 - sum(int(side.sum()) for side in sides) / padded > 0.4
    assert grouped < 0.06


def test_one_side_and_empty_examples_are_batched() -> None:
    batches = Batches([np.array([0, 3, 0, 9, 1])], 9, seed=1)
    assert sorted(np.concatenate(batches.epoch(0)).tolist()) == [0, 1, 2, 3, 4]


def test_an_example_longer_than_the_budget_is_named() -> None:
    source, target = lengths(100)
    target[17] = 5_000
    with pytest.raises(ValueError, match="example 17 has 5,000 tokens, more than a batch's budget of 4,096"):
        Batches([source, target], 4_096, seed=1)


def test_what_cannot_be_batched_is_an_error() -> None:
    with pytest.raises(ValueError, match="no examples"):
        Batches([np.array([]), np.array([])], 100, seed=1)
    with pytest.raises(ValueError, match=r"different numbers of examples: \[2, 3\]"):
        Batches([np.ones(2), np.ones(3)], 100, seed=1)
    with pytest.raises(ValueError, match="budget of 0"):
        Batches([np.ones(2)], 0, seed=1)
    with pytest.raises(ValueError, match="0 rows"):
        Batches([np.ones(2)], 10, seed=1, max_rows=0)


def test_an_epoch_of_a_million_examples_takes_seconds() -> None:
    batches = Batches(lengths(1_000_000), 4_096, seed=1)
    begun = time.perf_counter()
    batches.epoch(0)
    assert time.perf_counter() - begun < 5  # measured: 0.4


def test_rows_are_padded_on_the_right() -> None:
    rows = [np.array([5, 6], np.uint16), np.array([], np.uint16), np.array([7, 8, 9], np.uint16)]
    padded = pad(rows, 0)
    assert padded.tolist() == [[5, 6, 0], [0, 0, 0], [7, 8, 9]]
    assert padded.dtype == np.int64
    assert pad(rows[:1], -100).tolist() == [[5, 6]]
    assert pad([], 0).shape == (0, 0)
    assert pad([rows[1]], 0).shape == (1, 0)
