"""How much the studio does at a time, and for one request. What a single text may be stands in `schemas`."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """`workers` compute with one core each and `queue` more requests wait; what comes then is turned away with 429.

    `weights` bounds what one look may hold, `numbers` the same where it is asked for as JSON text, which is some ten
    times as large as its binary form.
    """

    body: int = 8 << 20  # bytes
    pixels: int = 20_000_000  # of a picture
    seconds: float = 60.0  # of one request, from its arrival
    workers: int = max(1, min(4, os.cpu_count() or 1))
    queue: int = 32
    models: int = 4  # that stay in memory
    weights: int = 24_000_000
    numbers: int = 1_500_000
