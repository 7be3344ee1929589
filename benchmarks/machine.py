"""What Linux says about this process and about the machine around it."""

from __future__ import annotations

import os
import time
from pathlib import Path


def memory(field: str, process: int | str = "self") -> float:
    """VmRSS or VmHWM of a process in MiB. Not ru_maxrss: a child inherits that from the process that started it."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) / 1024
    raise ValueError(f"/proc/{process}/status has no {field}")


def foreign_work() -> float:
    """Core-seconds that others than this process and its ended workers have worked since boot, other guests of the host
    included."""
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    everyone = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
    own = os.times()
    return everyone - time.process_time() - own.children_user - own.children_system
