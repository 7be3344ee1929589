"""The models that are compared, and what every side has alike. Only the standard library may be imported here."""

from __future__ import annotations

from dataclasses import dataclass

VOCABULARY = 10_000
SMOOTHING = 0.1
THREADS = 2


@dataclass(frozen=True)
class Size:
    """`parameters` is what the weights must come to, with one table for source, target and output."""

    layers: int
    width: int
    hidden: int
    heads: int
    parameters: int


SIZES = {
    "tiny": Size(layers=4, width=128, hidden=256, heads=4, parameters=2_600_000),
    "base": Size(layers=6, width=512, hidden=2048, heads=8, parameters=49_000_000),
}
