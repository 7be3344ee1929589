"""The command line: thin verbs. stdout carries results, stderr everything else; exit code 2 is a user's mistake."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from regard import __version__, extensions
from regard.cli import (
    answer,
    augment,
    classify,
    demo,
    describe,
    embed,
    evaluate,
    export,
    fill,
    generate,
    import_,
    lab,
    listing,
    look,
    pair,
    similar,
    studio,
    tag,
    train,
    translate,
)

VERBS = (
    *(demo, train, translate, augment, classify, pair, tag, answer, generate, fill, embed, similar),
    *(evaluate, look, lab, studio, describe, listing, import_, export),
)


IMPORT = "--import"


class Parser(argparse.ArgumentParser):
    """Complains in one sentence; the usage is a `--help` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog="regard",
        description="Attention models: train them on your own files, use them, score them, look inside.",
        epilog="examples:\n"
        "  regard demo\n"
        "  regard train translate --train train.tsv --valid valid.tsv --run runs/my\n"
        '  regard translate runs/my "A sentence."\n'
        '  regard look runs/my "A sentence."\n'
        "  regard studio\n"
        "  regard describe transformer-base\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("--version", action="version", version=f"regard {__version__}")
    root.add_argument(
        IMPORT,
        metavar="FILE",
        help="parts, presets, tasks, data sets and experiments of your own: a Python file or a module, before or after "
        "the verb; may be repeated",
    )
    verbs = root.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add(verbs)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake of the user's becomes one sentence and exit code 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        words = imported(words)
    except ValueError as error:
        print(f"regard: {error}", file=sys.stderr)
        return 2
    options, rest = parser().parse_known_args(words)
    rest = marked(words, rest)
    run: Callable[[argparse.Namespace, list[str]], Any] = options.run_verb
    try:
        run(options, rest)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; leave nothing for the interpreter to flush at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"regard {options.verb}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def imported(words: Sequence[str]) -> list[str]:
    """Import what `--import NAME` names, anywhere before "--": parts, tasks and presets register themselves before the
    verbs look for them. Returns the other words."""
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return [*others, word, *rest]
        if name != IMPORT:
            others.append(word)
            continue
        asked = value if equals else next(rest, None)
        if not asked:
            raise ValueError(f"{IMPORT} takes a file or a module: {IMPORT} my_parts.py")
        extensions.bring(asked)
    return others


def marked(words: Sequence[str], rest: list[str]) -> list[str]:
    """What argparse leaves over, with the "--" that it may drop: behind it stands text, whatever it looks like."""
    if "--" not in words or "--" in rest:
        return rest
    texts = list(words[words.index("--") + 1 :])
    cut = len(rest) - len(texts)
    return [*rest[:cut], "--", *texts] if texts and rest[cut:] == texts else rest
