"""`regard embed`: texts in, a vector for each out."""

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

LINES_A_CHUNK = 10_000  # lines of standard input that are sorted by length together


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "embed",
        run,
        help="make a vector of each text with an encoder",
        usage="regard embed RUN [TEXT ...] [options]",
        description="Make a vector of each text, or of each line of standard input, with the encoder of a run; the "
        "order is kept. Without --out each vector is a JSON object on standard output.",
        epilog="examples:\n"
        '  regard embed runs/minilm "A sentence." "Another."\n'
        "  regard embed runs/minilm --out vectors.npy < sentences.txt\n"
        "  regard embed runs/bert --pool cls --raw --out vectors.jsonl < sentences.txt\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--pool", choices=("mean", "cls"), help="the mean of all states, or that of the first token")
    verb.add_argument("--raw", action="store_true", help="vectors as they are, not of length 1")
    verb.add_argument("--out", metavar="FILE", help="a .npy of float32 (texts, width), or a .jsonl of text and vector")
    verb.add_argument("--json", action="store_true", help="JSON on standard output also beside --out")
    verb.add_argument("--batch", type=positive, default=64, help="texts at a time (default 64; 1: line by line)")
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.base import rounded
    from regard.tasks.vectors.embedding import load_embedder
    from regard.tasks.vectors.files import writing

    given = given_texts(rest, "embed")
    out = None if options.out is None else Path(options.out)
    if out is not None and out.suffix not in (".npy", ".jsonl"):
        raise Error(f"--out {out}: it must end in .npy or .jsonl, which say how vectors are written")
    embedder = rounded(load_embedder(options.run, options.pool), options.int8)
    texts: Iterable[str] = given or standard_input("embedding")
    alone = out is None and line_by_line(options.batch)
    read = 0
    with writing(out, embedder.width) as write, counting("texts embedded", len(given) or None) as done:
        for chunk in chunks(texts, 1 if alone else LINES_A_CHUNK):
            for number, text in enumerate(chunk, read + 1):
                if not text.strip():
                    raise Error(f"text {number} is empty, so it has no vector: take it out or give it words")
            read += len(chunk)
            vectors = embedder(chunk, not options.raw, options.batch, say, done)
            if write is not None:
                write(chunk, vectors)
                if not options.json:
                    continue
            for text, vector in zip(chunk, vectors.tolist(), strict=True):
                print(json.dumps({"text": text, "vector": vector}, ensure_ascii=False))
            sys.stdout.flush()
    if out is not None:
        say(f"{read:,} vectors of width {embedder.width} in {out}")
