"""Texts that a verb reads: named on the command line, after the run and between the options, or on standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from regard.cli.progress import say
from regard.errors import Error


def given_texts(rest: list[str], verb: str) -> list[str]:
    """What argparse leaves over; anything that looks like an option is one that is not known."""
    cut = rest.index("--") if "--" in rest else len(rest)
    unknown = next((word for word in rest[:cut] if word.startswith("--")), None)
    if unknown is not None:
        raise Error(f"unknown option {unknown}; see regard {verb} --help (standard input takes any text)")
    return readable(rest[:cut] + rest[cut + 1 :])


def readable(texts: list[str]) -> list[str]:
    """The same texts; one that is no UTF-8 is refused."""
    for text in texts:
        if any("\ud800" <= letter <= "\udfff" for letter in text):  # what Python makes of bytes that are no UTF-8
            raise Error(f"{text!a} is not valid UTF-8; write it so, or give it as a file after <")
    return texts


def line_by_line(batch: int) -> bool:
    """Whether each line is answered before the next is read: on a terminal, or where it is asked for."""
    return batch == 1 or (sys.stdin is not None and sys.stdin.isatty())


def standard_input(doing: str) -> Iterator[str]:
    from regard.data.files import decoded

    if sys.stdin is None:
        raise Error("standard input is closed; name the texts after the run, or a file after <")
    if sys.stdin.isatty():
        say(f"{doing} what you type, line by line; end with Ctrl-D")
    return decoded(sys.stdin.buffer, "standard input")


def chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """So many texts at a time; what came before a line that cannot be read is not lost."""
    chunk: list[str] = []
    try:
        for text in texts:
            chunk.append(text)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except Error:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk
