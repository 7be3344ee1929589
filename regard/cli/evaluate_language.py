"""How `regard evaluate` scores a language model: bits per byte, perplexity, speed."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from regard.cli.progress import counting

SIGNATURE = "every token once, with at least half of the context before it; bytes of UTF-8"


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what they were computed on."""
    from regard.data.files import DataError
    from regard.tasks.generator import encoded, measure, unknown
    from regard.tasks.language import load_generator

    if rest:
        raise ValueError(f"unexpected argument {rest[0]!r}: a language model is scored without a search")
    writer = load_generator(options.run)
    ids, size = encoded(writer.tokenizer, read_text(options).open())
    if not len(ids):
        raise DataError("the text is empty: there is nothing to score")
    start = time.perf_counter()
    with counting("tokens scored", len(ids)) as done:
        score = measure(writer.model, ids, size, writer.context, writer.tokenizer.start, done)
    seconds = time.perf_counter() - start
    return {
        "scores": {name: {"score": value, "signature": SIGNATURE} for name, value in score.metrics().items()},
        "context": writer.context,
        "tokens": score.tokens,
        "unknown tokens": unknown(writer.tokenizer, ids),
        "bytes": score.size,
        "tokens per second": score.tokens / seconds,
    }


def read_text(options: argparse.Namespace) -> Any:
    from regard.data.catalogue import DATA_SETS
    from regard.tasks.examples import TextData

    if not options.data:
        raise ValueError("there is nothing to score: give --data, a text file or a named data set")
    if options.data in DATA_SETS or not (Path(options.data).suffix or Path(options.data).exists()):
        return TextData(name=options.data, languages=options.languages, split=options.split, count=options.count)
    columns = tuple(options.columns.split(",")) if options.columns else None
    return TextData(file=options.data, columns=columns, count=options.count)


def table(result: dict[str, Any]) -> str:
    lines = [f"{name.replace('_', ' '):<16}{one['score']:.4f}" for name, one in result["scores"].items()]
    lines.append(f"({SIGNATURE})")
    lines.append(
        f"{result['tokens']:,} tokens, {result['bytes']:,} bytes, {result['tokens per second']:,.0f} tokens a second"
    )
    if result["unknown tokens"]:
        lines.append(f"{result['unknown tokens']:,} tokens are unknown: bits per byte do not say what they cost")
    return "\n".join(lines)
