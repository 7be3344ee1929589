"""`--with`, for verbs that use a translator: runs that translate together with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from regard.cli.precision import precise

if TYPE_CHECKING:
    from regard.tasks.writing.translator import Translator


def add_with(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--with",
        metavar="RUN",
        action="append",
        help="another translator with the same tokenizer, such as one of another seed; the two translate together, by "
        "the mean of their probabilities; may be repeated",
    )


def load_together(run: str, options: argparse.Namespace) -> Translator:
    """The translator of a run with those that the options name, in the precision that they ask for."""
    from regard.tasks.writing.translation import load_translator

    first, *others = (precise(load_translator(one), options) for one in [run, *(getattr(options, "with") or ())])
    return first.beside(others) if others else first
