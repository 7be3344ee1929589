"""How `regard evaluate` scores a biLM: the perplexity of either direction, and of both."""

from __future__ import annotations

import argparse
import math
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Perplexities a token of the run's own tokenizer; they compare only between runs that share it."""
    from regard.data.examples import TextData
    from regard.data.files import DataError
    from regard.data.text import Sentences
    from regard.tasks import load

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    reader = precise(load(options.run), options)
    sentences = list(Sentences(TextData(**where(options)).open()))
    if not sentences:
        raise DataError(f"{options.data}: no text (all lines are empty)")
    forward, backward = reader.losses(sentences)
    return {
        "perplexity": math.exp((forward + backward) / 2),
        "forward perplexity": math.exp(forward),
        "backward perplexity": math.exp(backward),
        "sentences": len(sentences),
        "tokens": sum(map(len, reader.tokenizer.encode(sentences))),
    }


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    names = ("perplexity", "forward perplexity", "backward perplexity")
    rows = [f"{name:<22}{result[name]:.2f}" for name in names]
    return "\n".join([*rows, f"{result['sentences']:,} sentences, {result['tokens']:,} tokens"])
