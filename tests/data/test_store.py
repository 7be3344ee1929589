"""Tokens on disk: what is written comes back, half a store is none, memory does not grow with the corpus."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from regard.data import store as module
from regard.data.store import Store, write_store
from regard.errors import DataError

Row = tuple[list[int], list[int]]


def rows(count: int, vocabulary: int = 1_000) -> list[Row]:
    chosen = random.Random(3)
    return [
        (chosen.choices(range(vocabulary), k=chosen.randrange(9)), chosen.choices(range(vocabulary), k=i % 7))
        for i in range(count)
    ]


def content(store: Store) -> list[Row]:
    every = np.arange(len(store))
    source, target = (store.rows(side, every) for side in range(2))
    return [(one.tolist(), other.tolist()) for one, other in zip(source, target, strict=True)]


@pytest.mark.parametrize(("vocabulary", "bytes_each"), [(256, 1), (257, 2), (65_536, 2), (65_537, 4)])
def test_rows_come_back_in_the_smallest_type_that_holds_them(tmp_path: Path, vocabulary: int, bytes_each: int) -> None:
    written = [*rows(300, vocabulary), ([vocabulary - 1, 0], [vocabulary - 1])]
    store = write_store(tmp_path / "s", written, vocabulary, fingerprint="abc")
    assert content(store) == written
    assert content(Store.open(tmp_path / "s")) == written
    assert store.rows(0, [0])[0].dtype.itemsize == bytes_each
    assert (len(store), store.sides, store.vocabulary, store.fingerprint) == (301, 2, vocabulary, "abc")
    assert store.tokens(0) == sum(len(row[0]) for row in written)


def test_chunks_leave_no_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_TOKENS", 10)
    monkeypatch.setattr(module, "LENGTHS_AT_ONCE", 7)
    monkeypatch.setattr(module, "RELEASE_ROWS", 20)
    monkeypatch.setattr(module, "KEEP_MAPPED_BYTES", 0)
    written = rows(200)
    store = write_store(tmp_path, iter(written), 1_000)
    assert content(store) == written
    assert store.lengths(0).tolist() == [len(row[0]) for row in written]
    assert store.lengths(1).tolist() == [len(row[1]) for row in written]


def test_rows_are_given_in_the_order_asked_for_and_stay_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEEP_MAPPED_BYTES", 0)
    written = rows(5_000)
    store = write_store(tmp_path, written, 1_000)
    early = store.rows(0, [7, 3, 7])
    for start in range(0, 5_000, 500):  # more rows than are kept mapped
        store.rows(0, np.arange(start, start + 500))
    assert [row.tolist() for row in early] == [written[i][0] for i in (7, 3, 7)]


def test_lengths_are_int32(tmp_path: Path) -> None:
    assert write_store(tmp_path, rows(3), 1_000).lengths(1).dtype == np.int32


def test_any_number_of_sides_and_no_rows_at_all_are_stored(tmp_path: Path) -> None:
    one = write_store(tmp_path / "one", [([1, 2],), ([],), ([3],)], 10, sides=1)
    assert [row.tolist() for row in one.rows(0, [0, 1, 2])] == [[1, 2], [], [3]]
    none = write_store(tmp_path / "none", [], 10)
    assert len(none) == 0
    assert none.rows(0, []) == []
    assert none.lengths(1).tolist() == []


def test_a_row_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    store = write_store(tmp_path, rows(5), 1_000)
    for wrong in (-1, 5):
        with pytest.raises(IndexError, match="store of 5"):
            store.rows(0, [0, wrong])


def test_a_token_outside_the_vocabulary_names_its_row(tmp_path: Path) -> None:
    for wrong in (10, -1):
        with pytest.raises(ValueError, match=f"row 1, side 1: token {wrong} is outside the vocabulary of 10"):
            write_store(tmp_path, [([1], [2]), ([1], [3, wrong])], 10)
    with pytest.raises(ValueError, match="row 0 has 1 sides"):
        write_store(tmp_path, [([1],)], 10)


def failing(written: list[Row]) -> Iterator[Row]:
    yield from written
    raise DataError("train.tsv, line 9: no tab")


def test_a_store_that_failed_half_way_is_no_store_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 9"):
        write_store(tmp_path / "s", failing(rows(50)), 1_000)
    assert list((tmp_path / "s").iterdir()) == []
    with pytest.raises(DataError, match="no whole token store"):
        Store.open(tmp_path / "s")


def test_a_failure_while_writing_anew_keeps_the_old_store(tmp_path: Path) -> None:
    old = rows(20)
    write_store(tmp_path, old, 1_000)
    with pytest.raises(DataError, match="line 9"):
        write_store(tmp_path, failing(rows(50)), 1_000)
    assert content(Store.open(tmp_path)) == old


def test_writing_anew_replaces_the_store_and_does_not_disturb_who_reads_it(tmp_path: Path) -> None:
    reader = write_store(tmp_path, rows(20), 1_000)
    write_store(tmp_path, [([1], [2])], 1_000)
    assert content(reader) == rows(20)
    assert content(Store.open(tmp_path)) == [([1], [2])]


KILLED = """
import os, signal, sys
from regard.data import store
store.CHUNK_TOKENS = 50
def rows():
    for i in range(10_000):
        if i == 5_000:
            os.kill(os.getpid(), signal.SIGKILL)
        yield [i % 100] * 5, [i % 100] * 4
store.write_store(sys.argv[1], rows(), 100)
"""


def test_a_process_that_was_killed_leaves_no_store(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert run.returncode != 0
    assert list(tmp_path.iterdir())
    with pytest.raises(DataError, match="no whole token store"):
        Store.open(tmp_path)
    assert content(write_store(tmp_path, rows(5), 1_000)) == rows(5)


def test_files_of_another_size_are_named(tmp_path: Path) -> None:
    write_store(tmp_path, rows(30), 1_000)
    for name in ("side-0.ids", "side-1.offsets"):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:-2])
        with pytest.raises(DataError, match=f"{name} has .* bytes instead of"):
            Store.open(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(DataError, match=f"{name} is missing"):
            Store.open(tmp_path)
        (tmp_path / name).write_bytes(whole)
    assert content(Store.open(tmp_path)) == rows(30)


def test_a_header_of_another_version_or_of_nothing_is_named(tmp_path: Path) -> None:
    write_store(tmp_path, rows(3), 1_000)
    header = json.loads((tmp_path / "store.json").read_text())
    for text in ("", "[]", "{}", json.dumps(header | {"version": 99}), json.dumps(header | {"dtype": "nonsense"})):
        (tmp_path / "store.json").write_text(text)
        with pytest.raises(DataError, match=r"store\.json: "):
            Store.open(tmp_path)


PEAK = """
def peak():
    status = open("/proc/self/status").read()  # getrusage would count the parent's peak as well
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
"""
MEMORY = """
import sys
import numpy as np
from regard.data.batches import Batches, pad
from regard.data.store import write_store

def rows(count):
    for i in range(count):
        yield list(range(i % 1000, i % 1000 + 20 + i % 20)), list(range(i % 900, i % 900 + 20 + i % 21))

folder, count = sys.argv[1], int(sys.argv[2])
pad(write_store(folder + "/warm", rows(1000), 8000).rows(0, [1, 2]), 0)
before = peak()
store = write_store(folder + "/s", rows(count), 8000)
written = peak()
batches = Batches([store.lengths(0), store.lengths(1)], 4096, seed=1)
for indices in batches.epoch(0):
    for side in range(2):
        pad(store.rows(side, indices), 0)
print(written - before, peak() - before)
"""


READING = """
import sys
import numpy as np
from regard.data import store as module

module.KEEP_MAPPED_BYTES, module.RELEASE_ROWS = 0, 100
store = module.write_store(sys.argv[1], ([list(range(1000))] for _ in range(20_000)), 100_000, sides=1)
before = peak()
for indices in np.random.default_rng(0).permutation(20_000).reshape(-1, 100):
    assert all(row[-1] == 999 for row in store.rows(0, indices))
print(peak() - before)
"""


def measured(script: str, *arguments: str) -> list[float]:
    """What a script prints, run in a process of its own, whose peak of memory is its own too."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PEAK + script, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(number) for number in run.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux counts it")
def test_writing_and_batching_many_pairs_takes_little_memory() -> None:
    """300,000 pairs are 36 MB of ids on disk and would be 700 MB as Python lists. Measured: 9 and 59 MiB."""
    with tempfile.TemporaryDirectory() as folder:
        writing, batching = measured(MEMORY, folder, "300000")
    assert writing < 30
    assert batching < 100


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux counts it")
def test_reading_hands_back_what_it_mapped() -> None:
    """80 MB are read at random. Measured: 29 MiB resident, and 75 where nothing is handed back."""
    with tempfile.TemporaryDirectory() as folder:
        (reading,) = measured(READING, folder)
    assert reading < 50
