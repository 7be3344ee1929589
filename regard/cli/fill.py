"""`regard fill`: texts with masks in, the words that belong there out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from regard.cli.options import positive
from regard.cli.precision import add_precision, precise
from regard.cli.texts import given_texts
from regard.cli.translate import CHUNK, chunks, standard_input

if TYPE_CHECKING:
    from regard.tasks.pretraining.filling import Filled


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "fill",
        help="find masked words with a masked language model",
        usage="regard fill RUN [TEXT ...] [options]",
        description="Find the words that are masked in the given texts, or in each line of standard input; write "
        "[MASK] or <mask> where a word is to be found. Each mask is one piece of the run's tokenizer.",
        epilog="examples:\n"
        '  regard fill runs/bert "The cat [MASK] on the mat."\n'
        '  regard fill runs/bert --count 10 --json "A [MASK] film."\n'
        "  regard fill runs/bert --text < masked.txt > whole.txt\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--count", type=positive, default=5, help="words for each mask (default 5)")
    verb.add_argument("--text", action="store_true", help="the text with the likeliest words, and nothing else")
    verb.add_argument("--json", action="store_true", help="a JSON object a line: text, whole, and each mask's words")
    verb.add_argument("--batch", type=positive, default=32, help="texts at a time (default 32)")
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.pretraining.mlm import load_filler

    given = given_texts(rest, "fill")
    filler = precise(load_filler(options.run), options)
    texts: Iterable[str] = given or standard_input("filling in")
    alone = options.batch == 1 or (sys.stdin is not None and sys.stdin.isatty())
    for chunk in chunks(texts, 1 if alone else CHUNK):
        for found in filler.fill(chunk, options.count, options.batch):
            print(lines(found, options))
        sys.stdout.flush()


def lines(filled: Filled, options: argparse.Namespace) -> str:
    """What is printed of a text: a line for each word, with its probability; a number where there are several masks.
    An empty line of the input stays one."""
    if options.json:
        return json.dumps(asdict(filled), ensure_ascii=False)
    if options.text:
        return " ".join(filled.whole.splitlines())
    named = len(filled.masks) > 1
    return "\n".join(
        f"{f'{number}. ' if named else ''}{choice.probability:.4f}\t{choice.token}"
        for number, choices in enumerate(filled.masks, 1)
        for choice in choices
    )
