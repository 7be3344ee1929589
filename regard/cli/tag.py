"""`regard tag`: sentences in, words with their tags out, line for line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from regard.cli.options import positive
from regard.cli.precision import add_precision, precise
from regard.cli.progress import counting
from regard.cli.texts import given_texts
from regard.cli.translate import CHUNK, chunks, standard_input


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "tag",
        help="tag the words of sentences with a trained run",
        usage="regard tag RUN [TEXT ...] [options]",
        description="Tag the words of the given sentences, or of standard input line by line; the order is kept. A "
        "line is printed as word/TAG, one space apart.",
        epilog="examples:\n"
        '  regard tag runs/tagger "The black cat sleeps."\n'
        "  regard tag runs/tagger --json < sentences.txt > tagged.jsonl\n"
        "  regard tag runs/tagger --words < tokenised.txt\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    # TEXT is what is left over: argparse would take it only beside RUN, and `RUN --json TEXT` would be refused.
    verb.add_argument("--batch", type=positive, default=64, help="sentences at a time (default 64; 1: line by line)")
    verb.add_argument("--words", action="store_true", help="words are what white space separates: split no further")
    verb.add_argument(
        "--json",
        action="store_true",
        help='a line is {"words": […], "tags": […]}, as training takes it, and "entities" where tags mark them',
    )
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.data.tagged import words_in
    from regard.metrics.entities import scheme_of
    from regard.tasks.tagging.task import load_tagger

    given = given_texts(rest, "tag")
    tagger = precise(load_tagger(options.run), options)
    marked = scheme_of(tagger.names) is not None
    texts: Iterable[str] = given or standard_input("tagging")
    alone = options.batch == 1 or (sys.stdin is not None and sys.stdin.isatty())
    with counting("sentences tagged", len(given) or None) as done:
        for chunk in chunks(texts, 1 if alone else CHUNK):
            sentences = [text.split() if options.words else words_in(text) for text in chunk]
            for words, tags in zip(sentences, tagger.tags(sentences, options.batch, done), strict=True):
                print(line(words, tags, options.json, marked))
            sys.stdout.flush()


def line(words: list[str], tags: list[str], as_json: bool, marked: bool) -> str:
    """What is printed of a sentence; an empty line of the input stays one."""
    from regard.metrics.entities import entities_in
    from regard.tasks.tagging.tagger import written

    if not as_json:
        return written(words, tags)
    record: dict[str, Any] = {"words": words, "tags": tags}
    if marked:
        record["entities"] = [
            {"type": one.type, "text": " ".join(words[one.start : one.end]), "start": one.start, "end": one.end}
            for one in entities_in(tags)
        ]
    return json.dumps(record, ensure_ascii=False)
