"""`regard classify`: texts in, labels out, line for line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from regard.cli.options import positive
from regard.cli.precision import add_precision, precise
from regard.cli.progress import counting, say
from regard.cli.texts import given_texts
from regard.cli.translate import chunks, standard_input

CHUNK = 1000  # lines of standard input that are sorted by length together


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "classify",
        help="give texts the labels of a trained run",
        usage="regard classify RUN [TEXT ...] [options]",
        description="Give each text, or each line of standard input, its likeliest label; the order is kept.",
        epilog="examples:\n"
        '  regard classify runs/reviews "A dull film."\n'
        "  regard classify runs/reviews --scores < reviews.txt > labels.txt\n"
        '  regard classify runs/reviews --json "A dull film." "A fine one."\n',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    # TEXT is what is left over: argparse would take it only beside RUN, and `RUN --scores TEXT` would be refused.
    verb.add_argument("--scores", action="store_true", help="after each label a tab and its probability")
    verb.add_argument("--json", action="store_true", help="a JSON object a line: text, label, every probability")
    verb.add_argument("--batch", type=positive, default=64, help="texts at a time (default 64; 1: line by line)")
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.judging.classification import load_classifier

    given = given_texts(rest, "classify")
    classifier = precise(load_classifier(options.run), options)
    texts: Iterable[str] = given or standard_input("classifying")
    alone = options.batch == 1 or (sys.stdin is not None and sys.stdin.isatty())
    with counting("texts classified", len(given) or None) as done:
        for chunk in chunks(texts, 1 if alone else CHUNK):
            for text, scores in zip(chunk, classifier.each(chunk, options.batch, say, done), strict=True):
                print(line(text, scores, options))
            sys.stdout.flush()


def line(text: str, scores: Mapping[str, float], options: argparse.Namespace) -> str:
    """What is printed of a text, on one line; an empty line of the input stays one."""
    label = next(iter(scores), None)
    if options.json:
        return json.dumps({"text": text, "label": label, "scores": scores}, ensure_ascii=False)
    if label is None:
        return ""
    return f"{label}\t{scores[label]:.4f}" if options.scores else label
