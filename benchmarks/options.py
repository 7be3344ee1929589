"""What the command lines of the benchmarks have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from benchmarks.side import Side


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


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
