"""Batches by several processes: the same results in the same order, and nothing hangs when one goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
import torch

from regard.decoding import parallel
from regard.decoding.parallel import even, forkable, side_by_side
from regard.errors import Error

CPU = torch.device("cpu")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two cores, and no other thread: a server of other tests may still have some."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setattr(parallel, "active_count", lambda: 1)
    yield
    torch.set_num_threads(before)


def where(batch: int) -> tuple[int, int, int]:
    return batch, os.getpid(), torch.get_num_threads()


def test_results_come_in_the_order_of_the_batches_from_processes_with_one_thread(two: None) -> None:
    found = list(side_by_side(where, range(6), CPU))
    assert [batch for batch, _, _ in found] == list(range(6))
    assert {threads for _, _, threads in found} == {1}
    assert os.getpid() not in {process for _, process, _ in found}
    assert torch.get_num_threads() == 2


def test_batches_of_tensors_leave_no_thread_behind(two: None) -> None:
    before = threading.active_count()
    assert list(side_by_side(lambda batch: float(batch.sum()), torch.ones(3, 4).split(1), CPU)) == [4.0] * 3
    assert threading.active_count() == before


def test_work_sees_tensors_of_the_parent(two: None) -> None:
    table = torch.arange(12.0).view(4, 3)

    def row(batch: int) -> list[float]:
        total: list[float] = (table[batch] @ torch.ones(3, 2)).tolist()
        return total

    assert list(side_by_side(row, range(4), CPU)) == [(table[i] @ torch.ones(3, 2)).tolist() for i in range(4)]


def test_one_batch_or_one_thread_stays_in_this_process(two: None) -> None:
    assert [process for _, process, _ in side_by_side(where, [0], CPU)] == [os.getpid()]
    torch.set_num_threads(1)
    assert {process for _, process, _ in side_by_side(where, range(3), CPU)} == {os.getpid()}


def test_a_process_with_other_threads_is_not_forked(two: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forkable(CPU)
    monkeypatch.setattr(parallel, "active_count", threading.active_count)
    leave = threading.Event()
    other = threading.Thread(target=leave.wait)
    other.start()
    try:
        assert not forkable(CPU)
        assert {process for _, process, _ in side_by_side(where, range(3), CPU)} == {os.getpid()}
    finally:
        leave.set()
        other.join()


def test_other_devices_are_not_forked() -> None:
    assert not forkable(torch.device("cuda"))


def test_an_error_of_the_work_is_raised_here(two: None) -> None:
    def fail(batch: int) -> int:
        if batch == 2:
            raise ValueError("batch 2 is wrong")
        return batch

    with pytest.raises(ValueError, match="batch 2 is wrong"):
        list(side_by_side(fail, range(5), CPU))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_worker_is_told_of_instead_of_waited_for(two: None, number: int) -> None:
    parent = os.getpid()

    def die(batch: int) -> int:
        if batch == 1 and os.getpid() != parent:
            os.kill(os.getpid(), number)
        return batch

    with pytest.raises(Error, match="give smaller batches"):
        list(side_by_side(die, range(4), CPU))


def test_an_interrupted_worker_finishes_its_batch(two: None) -> None:
    parent = os.getpid()

    def interrupted(batch: int) -> int:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGINT)
        return batch

    assert list(side_by_side(interrupted, range(4), CPU)) == [0, 1, 2, 3]


def test_who_stops_listening_leaves_no_process_behind(two: None) -> None:
    found = side_by_side(where, range(6), CPU)
    _, process, _ = next(found)
    closing: Callable[[], None] = found.close  # type: ignore[attr-defined]
    closing()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


ENDLESS = """
import os, time, torch
from regard.decoding.parallel import side_by_side
torch.set_num_threads(2)
def work(batch):
    os.write(1, f"{os.getpid()}\\n".encode())  # at once: both workers write into one pipe
    time.sleep(600)
list(side_by_side(work, range(4), torch.device("cpu")))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_workers_end_with_the_process_that_asked_them(number: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    workers: list[int] = []
    try:
        assert process.stdout is not None
        workers += [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(number)
        process.communicate(timeout=60)  # until no worker holds its output open any more
    except BaseException:
        process.kill()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        process.communicate()
        raise
    assert process.returncode == -number


def test_each_worker_has_as_many_rows_as_the_others(two: None) -> None:
    assert [len(batch) for batch in even(range(200), 32, CPU)] == [25] * 8  # not six of 32 and one of eight
    assert [len(batch) for batch in even(range(33), 32, CPU)] == [17, 16]
    assert [len(batch) for batch in even(range(20), 32, CPU)] == [20]  # one batch stays one
    assert even([], 32, CPU) == []
    assert [row for batch in even(range(77), 8, CPU) for row in batch] == list(range(77))


def test_one_worker_has_batches_as_large_as_they_may_be() -> None:
    assert max(len(batch) for batch in even(range(200), 32, torch.device("meta"))) == 29
