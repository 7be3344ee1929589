"""What the routes share."""

from __future__ import annotations

from dataclasses import dataclass

from regard.studio.bench import Bench
from regard.studio.limits import Limits
from regard.studio.runs import Runs
from regard.studio.shelf import Shelf


@dataclass(frozen=True)
class Studio:
    """Runs on the disk, models in memory, workers, and how much of each request they take on."""

    runs: Runs
    shelf: Shelf
    bench: Bench
    limits: Limits
