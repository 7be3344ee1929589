"""`--int8`, for every verb that uses a trained run."""

from __future__ import annotations

import argparse
from typing import Any, Protocol, TypeVar


class Used(Protocol):
    """What a run is used by holds its model."""

    @property
    def model(self) -> Any: ...


U = TypeVar("U", bound=Used)


def add_precision(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--int8",
        action="store_true",
        help="round the weight matrices to 8-bit integers: faster on a CPU, a little less exact",
    )


def precise(used: U, options: argparse.Namespace) -> U:
    """With the precision that the options ask for."""
    if options.int8:
        from regard.fast.int8 import quantise

        quantise(used.model)
    return used
