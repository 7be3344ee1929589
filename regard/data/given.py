"""Texts as a caller gives them; a value that is not a text is reported with its place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from regard.errors import DataError

MESSAGE_CHARACTERS = 40  # of a value that a message quotes
INVISIBLE = ("Cc", "Cf")  # Unicode's categories of what controls and formats


def checked_text(value: Any, name: str = "the text") -> str:
    """`text`, if it is a text; else `DataError`, which calls it `name`."""
    if isinstance(value, str):
        return value
    raise DataError(f"{name} is {shown(value)}, not a text")


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    whole = repr(value)
    return whole if len(whole) <= MESSAGE_CHARACTERS else f"{whole[:MESSAGE_CHARACTERS]}…"


def checked_texts(values: Iterable[Any], name: str = "text") -> list[str]:
    """Several texts, counted from 1. One alone is refused: its letters would be taken for texts."""
    if not several(values):
        raise DataError(f"{shown(values)} is not a list of {name}s; write [{name}] where there is one")
    return [checked_text(value, f"{name} {number}") for number, value in enumerate(values, 1)]


def several(values: Any) -> bool:
    """Whether these are several texts, not one alone."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes)


def one_or_several(values: Any) -> list[str]:
    """A text alone, or each of several."""
    return checked_texts(values) if several(values) else [checked_text(values)]


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in it: only spaces, and characters that nobody sees, such as a byte-order mark
    or a space of no width."""
    return all(letter.isspace() or unicodedata.category(letter) in INVISIBLE for letter in text)


def refuse_blank(texts: Iterable[str], why: str) -> None:
    """Name the first text in which there is nothing to read."""
    for number, text in enumerate(texts, 1):
        if is_blank(text):
            raise DataError(f"text {number} is empty, {why}")
