"""`regard pair`: two texts in, their label or score out, line for line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.cli.options import positive
from regard.cli.precision import add_precision, precise
from regard.cli.progress import counting, say
from regard.cli.texts import given_texts
from regard.cli.translate import CHUNK, chunks, standard_input
from regard.errors import Error

if TYPE_CHECKING:
    from regard.tasks.judging.pair_judge import PairJudge

TEXTS = 2


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "pair",
        help="tell what two texts are to each other with a trained run",
        usage="regard pair RUN [TEXT TEXT] [options]",
        description="Give two texts, or each line of standard input, two texts with a tab between them, the likeliest "
        "label or the score that the run was trained for; the order is kept.",
        epilog="examples:\n"
        '  regard pair runs/mrpc "He bought the firm." "The firm was bought by him."\n'
        "  regard pair runs/stsb < pairs.tsv > scores.txt\n"
        "  regard pair runs/mrpc --json < pairs.tsv\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--scores", action="store_true", help="after each label a tab and its probability")
    verb.add_argument("--json", action="store_true", help="a JSON object a line: both texts and what was found")
    verb.add_argument("--batch", type=positive, default=64, help="pairs at a time (default 64; 1: line by line)")
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.judging.pairing import load_judge

    given = [" ".join(text.split()) for text in given_texts(rest, "pair")]  # a tab is what parts two texts
    if given and len(given) != TEXTS:
        raise Error(f"a pair is two texts, {len(given)} were given; many pairs come from standard input, with tabs")
    judge = precise(load_judge(options.run), options)
    lines: Iterable[str] = ["\t".join(given)] if given else standard_input("judging")
    alone = options.batch == 1 or (sys.stdin is not None and sys.stdin.isatty())
    read = 0
    with counting("pairs judged", 1 if given else None) as done:
        for chunk in chunks(lines, 1 if alone else CHUNK):
            pairs = [checked(text, number) for number, text in enumerate(chunk, read + 1)]
            read += len(chunk)
            verdicts = iter(judge.judge([pair for pair in pairs if pair is not None], options.batch, say, done))
            for pair in pairs:
                print(nothing(options) if pair is None else line(judge, pair, next(verdicts), options))
            sys.stdout.flush()


def checked(text: str, number: int) -> tuple[str, str] | None:
    """Both texts of a line; None of an empty one."""
    cells = [cell.strip() for cell in text.split("\t")]
    if not any(cells):
        return None
    if len(cells) < TEXTS:
        raise Error(f"pair {number}: no tab between two texts")
    if not (cells[0] and cells[1]):
        raise Error(f"pair {number}: one of the two texts is empty")
    return cells[0], cells[1]


def nothing(options: argparse.Namespace) -> str:
    """What is printed of an empty line of the input."""
    return json.dumps({"text_a": "", "text_b": ""}) if options.json else ""


def line(judge: PairJudge, pair: tuple[str, str], verdict: Any, options: argparse.Namespace) -> str:
    """What is printed of a pair, on one line."""
    from regard.tasks.judging.text_classifier import ranked

    texts = {"text_a": pair[0], "text_b": pair[1]}
    if judge.scale is not None:
        score = float(verdict[0])
        return json.dumps({**texts, "score": score}, ensure_ascii=False) if options.json else f"{score:.4f}"
    scores = ranked(judge.labels, verdict)
    label = next(iter(scores))
    if options.json:
        return json.dumps({**texts, "label": label, "scores": scores}, ensure_ascii=False)
    return f"{label}\t{scores[label]:.4f}" if options.scores else label
