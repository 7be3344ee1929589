"""How `regard evaluate` scores a language model: bits per byte, perplexity, speed."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what they were computed on."""
    from regard.data.files import DataError
    from regard.tasks.language.scoring import chosen_stride, encoded, measure, unknown, words_in
    from regard.tasks.language.task import load_generator

    changes = read_changes(rest)
    stride = changes.pop("stride", None)
    if changes or not isinstance(stride, int | None) or isinstance(stride, bool):
        wrong = f"--{next(iter(changes))}" if changes else f"--stride {stride}"
        raise Error(f"unexpected argument {wrong}: a language model is scored without a search; --stride N is all")
    writer = precise(load_generator(options.run), options)
    stride = chosen_stride(writer.context, stride)
    documents = read_text(options).open()
    ids, size = encoded(writer.tokenizer, documents)
    if not len(ids):
        raise DataError("the text is empty: there is nothing to score")
    begun = time.perf_counter()
    with counting("tokens scored", len(ids)) as done:
        words = words_in(documents)
        start, end = writer.tokenizer.start, writer.tokenizer.end
        score = measure(writer.model, ids, size, writer.context, start, end, done, stride, words)
    seconds = time.perf_counter() - begun
    signature = f"context {writer.context}, stride {stride}: every token once, with at least "
    signature += f"{writer.context - stride} before it where there are; words by white space, bytes of UTF-8"
    return {
        "scores": {name: {"score": value, "signature": signature} for name, value in score.metrics().items()},
        "context": writer.context,
        "stride": stride,
        "tokens": score.tokens,
        "unknown tokens": unknown(writer.tokenizer, ids),
        "bytes": score.size,
        "words": score.words,
        "tokens per second": score.tokens / seconds,
    }


def read_text(options: argparse.Namespace) -> Any:
    from regard.data.catalogue import data_sets
    from regard.data.examples import TextData

    if not options.data:
        raise Error("there is nothing to score: give --data, a text file or a named data set")
    if options.data in data_sets() or not (Path(options.data).suffix or Path(options.data).exists()):
        return TextData(name=options.data, languages=options.languages, split=options.split, count=options.count)
    columns = tuple(options.columns.split(",")) if options.columns else None
    return TextData(file=options.data, columns=columns, count=options.count)


def table(result: dict[str, Any]) -> str:
    lines = [f"{name.replace('_', ' '):<16}{one['score']:.4f}" for name, one in result["scores"].items()]
    lines.append(f"({result['scores']['loss']['signature']})")
    sizes = f"{result['tokens']:,} tokens, {result['words']:,} words, {result['bytes']:,} bytes"
    lines.append(f"{sizes}, {result['tokens per second']:,.0f} tokens a second")
    if result["unknown tokens"]:
        lines.append(f"{result['unknown tokens']:,} tokens are unknown: bits per byte do not say what they cost")
    return "\n".join(lines)
