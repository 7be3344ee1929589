"""Texts as a caller gives them; a value that is not a text is reported with its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from regard.data.errors import DataError

MESSAGE_CHARACTERS = 40  # of a value that a message quotes


def checked_text(value: Any, name: str = "the text") -> str:
    """`text`, if it is a text; else `DataError`, which calls it `name`."""
    if isinstance(value, str):
        return value
    shown = repr(value)
    raise DataError(
        f"{name} is {shown if len(shown) <= MESSAGE_CHARACTERS else f'{shown[:MESSAGE_CHARACTERS]}…'}, not a text"
    )


def checked_texts(values: Iterable[Any], name: str = "text") -> list[str]:
    """Several texts, counted from 1."""
    return [checked_text(value, f"{name} {number}") for number, value in enumerate(values, 1)]


def several(values: Any) -> bool:
    """Whether these are several texts, not one alone."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes)


def one_or_several(values: Any) -> list[str]:
    """A text alone, or each of several."""
    return checked_texts(values) if several(values) else [checked_text(values)]


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in it."""
    return not text.strip()


def refuse_blank(texts: Iterable[str], why: str) -> None:
    """Name the first text in which there is nothing to read."""
    for number, text in enumerate(texts, 1):
        if is_blank(text):
            raise DataError(f"text {number} is empty, {why}")
