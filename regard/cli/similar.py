"""`regard similar`: the lines of a file that mean most nearly what a query says."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from regard.cli.options import add_precision, add_verb, positive
from regard.cli.progress import counting, say
from regard.cli.texts import chunks, given_texts, line_by_line, standard_input
from regard.errors import Error


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "similar",
        run,
        help="rank the lines of a file by how near they are to a text",
        usage="regard similar RUN --lines FILE [TEXT ...] [options]",
        description="Rank the lines of a file by the cosine of their vectors to that of a text, or of each line of "
        "standard input. The vectors are kept in an index beside the file, which is made once and made anew where the "
        "file or the model is another; it may hold millions of lines. Each result is a line: cosine, number, text.",
        epilog="examples:\n"
        '  regard similar runs/minilm --lines faq.txt "How do I change my password?"\n'
        "  regard similar runs/minilm --lines faq.txt --count 3 --json < questions.txt\n"
        "  regard similar runs/minilm --lines big.txt --precision float16 --index /data/big.index < queries.txt\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--lines", required=True, metavar="FILE", help="the text file whose lines are ranked")
    verb.add_argument("--index", metavar="DIR", help="where the vectors are kept (default: FILE.index)")
    verb.add_argument("--count", type=positive, default=10, help="lines for each text (default 10)")
    verb.add_argument("--pool", choices=("mean", "cls"), help="the mean of all states, or that of the first token")
    verb.add_argument(
        "--precision",
        choices=("float32", "float16"),
        default="float32",
        help="of a new index; float16 takes half the room",
    )
    verb.add_argument("--reuse", action="store_true", help="refuse to make the index anew, say why instead")
    verb.add_argument(
        "--json", action="store_true", help="a JSON object for each text: its lines with cosine and number"
    )
    verb.add_argument("--batch", type=positive, default=64, help="texts at a time (default 64)")
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.base import rounded
    from regard.tasks.vectors.embedding import load_embedder
    from regard.tasks.vectors.index import open_index

    given = given_texts(rest, "similar")
    embedder = rounded(load_embedder(options.run, options.pool), options.int8)
    lines = Path(options.lines)
    folder = Path(options.index) if options.index else lines.with_name(f"{lines.name}.index")
    if folder.exists() and not folder.is_dir():
        raise Error(f"--index {folder}: it is a file; name a folder, which may not be there yet")
    with counting("lines embedded") as done:
        index = open_index(folder, lines, embedder, options.precision, say, done, make=not options.reuse)
    texts: Iterable[str] = given or standard_input("looking for")
    alone = line_by_line(options.batch)
    several = len(given) != 1
    for chunk in chunks(texts, 1 if alone else options.batch):
        asked = [text for text in chunk if text.strip()]
        found = iter(index.nearest(embedder(asked), options.count) if asked else ())
        for text in chunk:
            print(written(text, next(found) if text.strip() else [], options.json, several))
        sys.stdout.flush()


def written(text: str, found: list[Any], as_json: bool, several: bool) -> str:
    """What is printed of a query: its lines; an empty line behind them where there are more queries."""
    if as_json:
        return json.dumps({"query": text, "lines": [one.record() for one in found]}, ensure_ascii=False)
    rows = [one.line() for one in found]
    return "\n".join([*rows, ""] if several and rows else rows)
