"""How `regard evaluate` scores a masked language model: loss, perplexity and accuracy over hidden words."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Over words that are hidden as in training; they compare only between runs that share a tokenizer."""
    import numpy as np

    from regard.checkpoint import Run
    from regard.data.files import DataError
    from regard.tasks.base import task_of
    from regard.tasks.examples import TextData
    from regard.tasks.masked_reading import MaskedReader
    from regard.tasks.mlm import MaskedWords
    from regard.tasks.passages import InMemory, Pairs

    if changes := read_changes(rest):
        raise ValueError(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    run = Run(options.run)
    task = task_of(run, MaskedWords, "find masked words")
    filler = task.load(run)
    reader = MaskedReader(task, filler.tokenizer)
    held = InMemory(list(reader.passages(TextData(**where(options)).open())))
    if not len(held):
        raise DataError(f"{options.data}: no text (all lines are empty)")
    pairs = Pairs(held, "test") if task.next_sentence else None
    metrics, _ = reader.measure(filler.model, held, pairs, np.arange(len(held)))
    return {**metrics, "passages": len(held), "tokens": sum(len(row[0]) for row in held.found)}


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    counted = ("passages", "tokens")
    rows = [f"{name:<15}{value:.4f}" for name, value in result.items() if name not in counted]
    return "\n".join([*rows, f"{result['passages']:,} passages, {result['tokens']:,} tokens"])
