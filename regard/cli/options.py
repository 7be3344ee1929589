"""Options: those of several verbs, and those of the form `--a.b value` that name fields of a config."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from regard.errors import Error


def add_verb(verbs: Any, name: str, run: Callable[..., None], **about: Any) -> argparse.ArgumentParser:
    """The parser of a verb, which `run` runs; `about` is what its help says, in its own lines."""
    form = argparse.RawDescriptionHelpFormatter
    verb: argparse.ArgumentParser = verbs.add_parser(name, formatter_class=form, allow_abbrev=False, **about)
    verb.set_defaults(run_verb=run)
    return verb


def read_changes(words: list[str]) -> dict[str, Any]:
    """`["--layers", "2", "--norm", "rms"]` → `{"layers": 2, "norm": "rms"}`; `--name=value` and `--name-part` too.

    An option without a value is switched on: `["--compile"]` → `{"compile": True}`.
    """
    changes, others = split_changes(words)
    if others:
        raise Error(f"unexpected argument {others[0]!r}; options are written --name value")
    return changes


def split_changes(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """As `read_changes`, and the words that are neither options nor their values."""
    changes: dict[str, Any] = {}
    others: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":  # no options from here on
            others += rest
            break
        if not word.startswith("--"):
            others.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if not equals:
            value = "true" if not rest or rest[0].startswith("--") else rest.pop(0)
        changes[name.replace("-", "_")] = read_value(value)
    return changes, others


def read_value(text: str) -> Any:
    """A number, true, false, null or a JSON list or mapping where it reads as one, else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def positive(text: str) -> int:
    """For argparse: a whole number of at least 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def add_precision(verb: argparse.ArgumentParser) -> None:
    """`--int8`, for every verb that uses a trained run."""
    verb.add_argument(
        "--int8",
        action="store_true",
        help="round the weight matrices to 8-bit integers: faster on a CPU, a little less exact",
    )


def add_with(verb: argparse.ArgumentParser) -> None:
    """`--with`, for verbs that use a translator: runs that translate together with it."""
    verb.add_argument(
        "--with",
        metavar="RUN",
        action="append",
        help="another translator with the same tokenizer, such as one of another seed; the two translate together, by "
        "the mean of their probabilities; may be repeated",
    )


def add_columns(verb: argparse.ArgumentParser) -> None:
    about = "which columns to read: names, or numbers from 1 in TSV"
    verb.add_argument("--columns", metavar="A,B", type=lambda text: text.split(",") if text else None, help=about)


def add_data(verb: argparse.ArgumentParser, called: str, split: str) -> None:
    """Where the examples of a verb come from, as they are called there."""
    verb.add_argument("--data", metavar="FILE|NAME", help=f"a file of {called}, or a named data set")
    verb.add_argument("--source", metavar="FILE", help="the source side of two parallel files")
    verb.add_argument("--target", metavar="FILE", help="the target side of two parallel files")
    add_columns(verb)
    verb.add_argument(
        "--languages", metavar="en-fr", help="the languages of a named data set, or which of its labels to take"
    )
    verb.add_argument("--split", default=split, help=f"the split of a named data set (default {split})")
    verb.add_argument("--count", type=positive, help=f"read at most N {called}", metavar="N")
