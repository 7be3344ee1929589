"""The command line of a side, and what it prints. Only the standard library may be imported here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import asdict
from typing import Any, TypeVar

V = TypeVar("V")


def asked(variants: Mapping[str, V], **more: Callable[[str], Any]) -> tuple[V, argparse.Namespace]:
    """Which variant of a side was asked for, and what was given behind it, each read as its type says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=variants)
    for name, kind in more.items():
        parser.add_argument(name, type=kind)
    given = parser.parse_args()
    return variants[given.variant], given


def tell(record: Any) -> None:
    """Print a dataclass as one line of JSON."""
    print(json.dumps(asdict(record)))


def check_lengths(outputs: Sequence[Sized], count: int, length: int) -> None:
    """So many outputs, each of so many tokens."""
    wrong = [len(output) for output in outputs if len(output) != length]
    if wrong or len(outputs) != count:
        raise ValueError(f"{len(outputs)} of {count} outputs, some of {wrong[:3]} tokens instead of {length}")
