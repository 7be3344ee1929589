"""Texts that are named on the command line, after the run and between the options."""

from __future__ import annotations

from regard.errors import Error


def given_texts(rest: list[str], verb: str) -> list[str]:
    """What argparse leaves over; anything that looks like an option is one that is not known."""
    cut = rest.index("--") if "--" in rest else len(rest)
    unknown = next((word for word in rest[:cut] if word.startswith("--")), None)
    if unknown is not None:
        raise Error(f"unknown option {unknown}; see regard {verb} --help (standard input takes any text)")
    rest = rest[:cut] + rest[cut + 1 :]
    for text in rest:
        if any("\ud800" <= letter <= "\udfff" for letter in text):  # what Python makes of bytes that are no UTF-8
            raise Error(f"{text!a} is not valid UTF-8; write it so, or give it as a file after <")
    return rest
