"""`regard augment`: more pairs to train a translator on, made by translators of both directions."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.cli.options import add_data, add_precision, add_verb, positive, read_changes
from regard.cli.progress import counting, say
from regard.errors import Error

if TYPE_CHECKING:
    from regard.data.pairs import Pair

BEAM = 5  # of the search, where nothing else is asked for
WAYS = {"there": "more_sources", "back": "more_targets"}  # and where more of what each translates is named


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "augment",
        run,
        help="make more pairs to train a translator on",
        usage="regard augment [--there RUN] [--back RUN] [--data FILE] [--more-targets FILE] [options]",
        description="Print sentence pairs as TSV, to train a translator on: those of --data as they are; its "
        "sources with their translation by --there; and its targets behind their translation by --back, a run of the "
        "other direction. Sentences without a translation can be named too.",
        epilog="Any field of the search is an option, as for `regard translate` (default: --beam 5; --sample draws, "
        "for more variety).\n\n"
        "examples:\n"
        "  regard train translate --train train.tsv --valid valid.tsv --run runs/there\n"
        "  regard train translate --train train.tsv --valid valid.tsv --columns 2,1 --run runs/back\n"
        "  regard augment --there runs/there --back runs/back --data train.tsv > more.tsv\n"
        "  regard augment --back runs/back --more-targets texts.de >> more.tsv\n"
        "  regard train translate --train more.tsv --valid valid.tsv --run runs/better\n",
    )
    verb.add_argument("--there", metavar="RUN", help="a translator of the same direction")
    verb.add_argument("--back", metavar="RUN", help="a translator of the other direction")
    add_data(verb, "pairs", "train")
    verb.add_argument("--more-sources", metavar="FILE", help="sentences for --there alone, one a line")
    verb.add_argument("--more-targets", metavar="FILE", help="sentences for --back alone, one a line")
    verb.add_argument("--batch", type=positive, default=32, help="sentences at a time (default 32)")
    verb.add_argument("--sample", action="store_true", help="draw translations instead of searching for the best")
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.base import rounded
    from regard.tasks.writing.augmenting import translated
    from regard.tasks.writing.translation import load_translator
    from regard.tasks.writing.translator import chosen_search

    check(options)
    usual = {} if options.sample else {"beam": BEAM}
    search = chosen_search(sample=options.sample, **usual | read_changes(rest))
    translators = {way: rounded(load_translator(run), options.int8) for way in WAYS if (run := getattr(options, way))}
    pairs = read_pairs(options) if options.data or options.source or options.target else []
    more = {way: read_sentences(getattr(options, WAYS[way])) for way in translators}
    write(pairs)
    for way, translator in translators.items():
        back = way == "back"
        sentences = [pair.target if back else pair.source for pair in pairs] + more[way]
        with counting(f"sentences translated {way}", len(sentences)) as done:
            write(translated(sentences, translator, search, back, options.batch, done))


def check(options: argparse.Namespace) -> None:
    """What is named must be of use."""
    if not (options.there or options.back):
        raise Error("there is no translator to make pairs with: name --there RUN, --back RUN or both")
    for way, more in WAYS.items():
        run, file, name = getattr(options, way), getattr(options, more), f"--{more.replace('_', '-')}"
        if file and not run:
            raise Error(f"{name} {file} is for a translator --{way} RUN: name it too")
        if run and not (file or options.data or options.source or options.target):
            raise Error(f"--{way} {run} has nothing to translate: give --data, --source and --target, or {name}")


def read_pairs(options: argparse.Namespace) -> list[Pair]:
    from regard.data.examples import PairData
    from regard.data.pairs import say_skipped

    columns = tuple(options.columns) if options.columns else None
    others = {name: value for name in ("source", "target") if (value := getattr(options, name))}
    source = PairData().like(options.data, columns, options.languages, options.split, options.count, **others).pairs()
    pairs = list(source)
    say_skipped(source, "pairs", say)
    return pairs


def read_sentences(file: str | None) -> list[str]:
    """Those of a plain text, one a line."""
    from regard.data.files import existing, lines

    return [] if file is None else [line for line in lines(existing(file)) if line.strip()]


def write(pairs: Iterable[Pair]) -> None:
    """As TSV; a line break or a tab within a sentence becomes a space."""
    for pair in pairs:
        print(" ".join(pair.source.split()), " ".join(pair.target.split()), sep="\t")
