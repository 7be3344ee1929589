"""Windows of a stream: every token once an epoch, at ever new borders, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.data.store import write_store
from regard.data.windows import Windows
from regard.errors import DataError


@pytest.mark.parametrize("tokens", [10, 11, 19, 20, 101, 1000])
def test_windows_of_an_epoch_never_overlap_and_leave_less_than_a_window_at_each_end(tokens: int) -> None:
    windows = Windows(tokens, 10, 30, seed=1)
    for epoch in range(20):
        starts = np.sort(np.concatenate(windows.epoch(epoch)))
        assert (np.diff(starts) == 10).all()
        assert 0 <= starts[0] < 10
        assert starts[-1] + 10 <= tokens < starts[-1] + 20
        assert all(len(batch) <= 3 for batch in windows.epoch(epoch))


def test_every_place_begins_a_window_in_some_epoch() -> None:
    windows = Windows(1000, 10, 30, seed=1)
    assert {int(min(map(min, windows.epoch(n)))) for n in range(100)} == set(range(10))


def test_it_goes_on_from_any_place_as_if_it_had_come_there_by_itself() -> None:
    whole = Windows(200, 10, 30, seed=4).iterate()
    seen = [next(whole) for _ in range(40)]
    epoch, step, _ = seen[17]
    rest = Windows(200, 10, 30, seed=4).iterate(epoch, step)
    for expected in seen[17:]:
        found = next(rest)
        assert found[:2] == expected[:2]
        assert (found[2] == expected[2]).all()


def test_too_little_text_or_too_small_a_batch_says_what_to_do() -> None:
    with pytest.raises(DataError, match="the training text has 9 tokens, less than a context of 10"):
        Windows(9, 10, 30, seed=1)
    with pytest.raises(DataError, match="a batch of 5 tokens holds no context of 10"):
        Windows(90, 10, 5, seed=1)


def test_a_store_gives_windows_across_its_rows(tmp_path: Path) -> None:
    rows = [[0, 1, 2], [], [3, 4, 5, 6], [7]]
    store = write_store(tmp_path, ((row,) for row in rows), vocabulary=10, sides=1)
    assert store.windows(0, [0, 2, 5], 3).tolist() == [[0, 1, 2], [2, 3, 4], [5, 6, 7]]
    with pytest.raises(IndexError, match="leave a side of 8 tokens"):
        store.windows(0, [6], 3)
