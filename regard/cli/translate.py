"""`regard translate`: sentences in, translations out, line for line."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from regard.cli.options import read_changes

CHUNK = 1000  # lines of standard input that are sorted by length together


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "translate",
        help="translate sentences with a trained run",
        description="Translate the given sentences, or standard input line by line; the order is kept.",
        epilog="Any field of the search is an option: --beam 5, --nbest 3, --length-penalty 0.6, --max-length 50, "
        "--no-repeat 3, --sample true, --temperature 0.8, --top-k 20, --top-p 0.9, --seed 1.\n\n"
        "examples:\n"
        '  regard translate runs/demo "The cat sees the dog."\n'
        "  regard translate runs/demo --beam 5 --scores < sentences.txt > translations.txt\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("text", metavar="TEXT", nargs="*", help="sentences; standard input where none is given")
    verb.add_argument("--batch", type=int, default=32, help="sentences at a time (default 32)")
    verb.add_argument("--scores", action="store_true", help="the score before each translation, and a tab")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.checkpoint import Run
    from regard.config import change
    from regard.decoding import Decoding
    from regard.tasks.translation import Translator

    search = change(Decoding(beam=4), read_changes(rest))
    translator = Translator.load(Run(options.run))
    texts: Iterable[str] = options.text or (line.rstrip("\n") for line in sys.stdin)
    for chunk in chunks(texts):
        filled = [text for text in chunk if text.strip()]
        found = iter(translator.translate(filled, search, options.batch))
        for text in chunk:
            hypotheses = next(found) if text.strip() else []
            lines = [translator.tokenizer.decode(one.tokens).replace("\n", " ") for one in hypotheses] or [""]
            scores = [f"{one.score:.4f}\t" if options.scores else "" for one in hypotheses] or [""]
            for score, line in zip(scores, lines, strict=True):
                print(f"{score}{line}")
        sys.stdout.flush()


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(texts)
    while chunk := list(itertools.islice(iterator, CHUNK)):
        yield chunk
