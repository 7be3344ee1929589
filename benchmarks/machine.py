"""What Linux says about this process and about the machine around it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path


def memory(field: str, process: int | str = "self", table: str = "status") -> float:
    """VmRSS or VmHWM of a process in MiB. Not ru_maxrss: a child inherits that from the process that started it."""
    for line in Path(f"/proc/{process}/{table}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) / 1024
    raise ValueError(f"/proc/{process}/{table} has no {field}")


def descendants() -> set[int]:
    """All living processes that this one started, and those that they started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().partition(" ")
            parents[int(number)] = int(rest.rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    family = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in family and child not in family}:
        family |= more
    return family - {os.getpid()}


def family_memory() -> float:
    """What this process and all that it started have in memory, in MiB; what they share is counted once (Pss)."""
    total = 0.0
    for process in {os.getpid(), *descendants()}:
        try:
            total += memory("Pss", process, "smaps_rollup")
        except (OSError, ValueError):
            continue
    return total


class Peak:
    """While the block runs, the most memory that this process and its children had together; looked at every 50 ms."""

    def __enter__(self) -> Peak:
        self.mebibytes, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.mebibytes = max(self.mebibytes, family_memory())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()


def foreign_work() -> float:
    """Core-seconds that others than this process and its workers, ended or not, have worked since boot, other guests of
    the host included."""
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    everyone = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
    own = os.times()
    workers = own.children_user + own.children_system + sum(map(work_of, descendants()))
    return everyone - time.process_time() - workers


def work_of(process: int) -> float:
    """Core-seconds that a process has worked; none of one that has ended meanwhile."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
