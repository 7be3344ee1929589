"""`regard answer`: questions on a text in, spans of it out."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.cli.options import positive
from regard.cli.precision import add_precision, precise
from regard.cli.progress import say
from regard.cli.texts import given_texts
from regard.cli.translate import CHUNK, chunks, standard_input
from regard.errors import Error


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "answer",
        help="answer questions on a text with a trained run",
        usage="regard answer RUN --text FILE [QUESTION ...] [options]",
        description="Find the words of a text that answer each question, or each line of standard input. A question "
        "that the text does not answer gets an empty line. Long texts are read in windows, whole.",
        epilog="examples:\n"
        '  regard answer runs/squad --text article.txt "Who built the tower?"\n'
        "  regard answer runs/squad --text article.txt --scores < questions.txt\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--text", required=True, metavar="FILE", help="the text that the questions are asked of")
    verb.add_argument(
        "--threshold", default=0.0, metavar="LOGITS", help="how much likelier than none an answer must be, in logits"
    )
    verb.add_argument(
        "--scores", action="store_true", help="before each answer its probability against none, and a tab"
    )
    verb.add_argument("--json", action="store_true", help="a JSON object a line: question, text, start, end, score")
    verb.add_argument("--batch", type=positive, default=16, help="windows at a time (default 16)")
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def threshold_of(text: Any) -> float:
    """How much likelier than none an answer must be."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if math.isnan(value):
        raise Error(f"threshold {text}: it is a number of logits, such as 0 or 1.5")
    return value


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.data.files import existing, lines
    from regard.tasks.answering.task import load_answerer

    given, threshold = given_texts(rest, "answer"), threshold_of(options.threshold)
    context = "\n".join(lines(existing(Path(options.text))))
    if not context.strip():
        raise Error(f"{options.text} is empty: there is nothing to answer from")
    answerer = precise(load_answerer(options.run), options)
    asked: Iterable[str] = given or standard_input("answering")
    alone = sys.stdin is not None and sys.stdin.isatty()
    for chunk in chunks(asked, 1 if alone else CHUNK):
        found = answerer.answer([(question, context) for question in chunk], threshold, options.batch, say=say)
        for question, answer in zip(chunk, found, strict=True):
            print(line(question, answer, options))
        sys.stdout.flush()


def line(question: str, answer: Any, options: argparse.Namespace) -> str:
    """What is printed of an answer, on one line; an empty line of the input stays one."""
    if options.json:
        return json.dumps({"question": question, **asdict(answer)}, ensure_ascii=False)
    if not question.strip():
        return ""
    text = " ".join(answer.text.split())
    return f"{answer.score:.4f}\t{text}" if options.scores else text
