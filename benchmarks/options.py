"""What the command lines of the benchmarks have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.side import Side


def parse(parser: argparse.ArgumentParser, smoke: Mapping[str, Any], out: str) -> argparse.Namespace:
    """With the options that every benchmark has; `smoke` are those that make it a quick trial."""
    parser.add_argument(
        "--smoke", action="store_true", help=f"does it work? {dict(smoke)}, and no waiting for a quiet machine"
    )
    parser.add_argument("--out", type=Path, help=f"a JSON file for {out}")
    given = parser.parse_args()
    if given.smoke:
        vars(given).update(smoke)
    return given


def several(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Reads names that are separated by commas."""

    def names(text: str) -> list[str]:
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown name {unknown[0]!r}: choose from {', '.join(known)}")
        return text.split(",")

    return names


def add_sides(parser: argparse.ArgumentParser, sides: Sequence[Side]) -> None:
    names = [side.name for side in sides]
    parser.add_argument("--sides", type=several(names), default=names, help=f"of {','.join(names)}")


def chosen(sides: Sequence[Side], names: Sequence[str]) -> list[Side]:
    known = {side.name: side for side in sides}
    return [known[name] for name in names]
