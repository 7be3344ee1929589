"""`regard generate`: write on from a prompt, as it comes."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from regard.cli.options import positive, read_changes

STDIN = "-"


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "generate",
        help="write on from a prompt with a trained language model",
        usage="regard generate RUN [PROMPT] [options]",
        description="Write on from a prompt with a run that was trained for the task lm. The text goes to standard "
        "output as it is written, the prompt first. Without a prompt it begins from nothing; - reads one from standard "
        "input.",
        epilog="Tokens are drawn: --temperature 0.8, --top-k 40 and --top-p 0.9 shape what is drawn, --seed N repeats "
        "it, --temperature 0 takes the likeliest. Any other field of the search is an option too: --beam 4, "
        "--no-repeat 3.\n\n"
        "examples:\n"
        '  regard generate runs/shakespeare "ROMEO:" --tokens 200 --temperature 0.8\n'
        "  regard generate runs/shakespeare --seed 1\n"
        '  regard generate runs/shakespeare "Once" --beam 4 --tokens 20\n',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("prompt", metavar="PROMPT", nargs="?", default="", help="what it writes on from")
    verb.add_argument("--tokens", type=positive, default=100, metavar="N", help="at most so many (default 100)")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.generator import chosen_drawing
    from regard.tasks.language import load_generator

    search = chosen_drawing(**read_changes(rest))
    writer = load_generator(options.run)
    prompt = standard_input() if options.prompt == STDIN else options.prompt
    if search.beam > 1 or search.nbest > 1:
        for text in writer.best(prompt, options.tokens, search):
            print(prompt + text)
        return
    print(prompt, end="", flush=True)
    for text in writer.stream(prompt, options.tokens, search):
        print(text, end="", flush=True)
    print()


def standard_input() -> str:
    from regard.data.files import decoded

    if sys.stdin is None:
        raise ValueError("standard input is closed; name the prompt after the run")
    return "".join(decoded(sys.stdin.buffer, "standard input", ends=True))
