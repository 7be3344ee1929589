"""The work that every side does: a tiny Transformer, one epoch. Only the standard library may be imported here."""

from __future__ import annotations

from benchmarks.sizes import SIZES

SIZE = SIZES["tiny"]
DROPOUT = 0.3
BATCH_TOKENS = 4096  # of the longer side, padding included
RATE, WARM_UP = 1e-3, 400
NEVER = 10**6  # steps after which something would happen that is not to happen
ALMOST_ALL = 0.99  # of the target tokens: OpenNMT-py leaves out repeated sources and goes on without a pause
