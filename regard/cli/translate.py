"""`regard translate`: sentences in, translations out, line for line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.cli.options import add_verb, positive, split_changes
from regard.cli.precision import add_precision
from regard.cli.progress import counting, say
from regard.cli.texts import chunks, line_by_line, standard_input
from regard.cli.together import add_with, load_together
from regard.errors import Error

if TYPE_CHECKING:
    from regard.look.alignment import Reading
    from regard.tasks.writing.translator import Rendering, Translator

CHUNK = 1000  # lines of standard input that are sorted by length together


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "translate",
        run,
        help="translate sentences with a trained run",
        usage="regard translate RUN [TEXT ...] [options]",
        description="Translate the given sentences, or standard input line by line; the order is kept.",
        epilog="Any field of the search is an option: --beam 5, --nbest 3, --length-penalty 0.6, --max-length 50, "
        "--no-repeat 3, --sample, --temperature 0.8, --top-k 20, --top-p 0.9, --seed 1.\n\n"
        "examples:\n"
        '  regard translate runs/demo "The cat sees the dog."\n'
        "  regard translate runs/demo --beam 5 --scores < sentences.txt > translations.txt\n"
        '  regard translate runs/demo --align "The black cat sleeps."\n'
        "  regard translate runs/my/seed-1 --with runs/my/seed-2 < sentences.txt\n"
        "  regard translate runs/my < sentences.txt     all its seeds together, after regard train ... --seeds 3\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder, or one of several seeds, which translate together")
    # TEXT is what is left over: argparse would take it only beside RUN, and `RUN --align TEXT` would be refused.
    verb.add_argument("--batch", type=positive, default=32, help="sentences at a time (default 32; 1: line by line)")
    verb.add_argument("--scores", action="store_true", help="the score before each translation, and a tab")
    verb.add_argument(
        "--align", action="store_true", help="after each translation a tab and its word alignment, as 0-0 1-2 (Pharaoh)"
    )
    verb.add_argument("--json", action="store_true", help="a JSON object a translation: text, score, log_prob, parts")
    verb.add_argument("--sample", action="store_true", help="draw translations instead of searching for the best")
    add_with(verb)
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.models import Ensemble
    from regard.tasks.writing.translator import chosen_search

    changes, given = split_changes(rest)
    search = chosen_search(sample=options.sample, **changes)
    translator = load_together(options.run, options)
    reading = translator.reading if options.align else None
    if options.align and reading is None:
        several = isinstance(translator.model, Ensemble)
        why = "several runs have no one alignment" if several else f"{options.run} has no attention to its source"
        raise Error(f"{why}, so there is no alignment; leave --align out")
    texts: Iterable[str] = given or standard_input("translating")
    with counting("sentences translated", len(given) or None) as done:
        for chunk in chunks(texts, 1 if line_by_line(options.batch) else CHUNK):
            for found in translator.translate(chunk, search, options.batch, say, done):
                for one in found:
                    print(one.json() if options.json else line(translator, one, options.scores, reading))
            sys.stdout.flush()


def line(translator: Translator, one: Rendering, scores: bool, reading: Reading | None) -> str:
    """What is printed of a translation, on one line; an empty line of the input stays one, of as many columns."""
    if reading is None:
        return one.line(scores)
    return f"{one.line(scores)}\t{pharaoh(translator, one, reading)}"


def pharaoh(translator: Translator, one: Rendering, reading: Reading) -> str:
    """The links of a text and its translation as 0-0 1-2, counting words."""
    from regard.data.pairs import Pair
    from regard.data.words import words
    from regard.tasks.writing.alignment import align

    links: list[str] = []
    sources = targets = 0  # words before this part
    for (source, target), found in zip(
        one.parts, align(translator, [Pair(*part) for part in one.parts], reading), strict=True
    ):
        links += [f"{sources + left}-{targets + right}" for left, right in found]
        sources, targets = sources + len(words(source)), targets + len(words(target))
    return " ".join(links)
