"""How `regard evaluate` scores a permuted language model: loss, perplexity and accuracy over predicted tokens."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.evaluate_mlm import table
from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes

__all__ = ["evaluate", "table"]


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Over tokens that are predicted as in training; they compare only between runs that share a tokenizer."""
    import numpy as np

    from regard.checkpoint import Run
    from regard.data.files import DataError
    from regard.models import TwoStreamModel
    from regard.tasks.base import task_of
    from regard.tasks.examples import TextData
    from regard.tasks.passages import InMemory
    from regard.tasks.permuted_reading import PermutedReader
    from regard.tasks.plm import PermutedWords

    if changes := read_changes(rest):
        raise ValueError(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    run = Run(options.run)
    task = task_of(run, PermutedWords, "predict permuted texts")
    filler = task.load(run)
    assert isinstance(filler.model, TwoStreamModel)
    reader = PermutedReader(task, filler.tokenizer)
    held = InMemory(list(reader.passages(TextData(**where(options)).open())))
    if not len(held):
        raise DataError(f"{options.data}: no text (all lines are empty)")
    metrics, _ = reader.measure(filler.model, held, np.arange(len(held)))
    return {**metrics, "passages": len(held), "tokens": sum(len(row[0]) for row in held.found)}
