"""How `regard evaluate` scores what was pre-trained by hidden words: loss, perplexity and accuracy of finding them."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Over words that are hidden as in training; they compare only between runs that share a tokenizer."""
    from regard.checkpoint import Run
    from regard.data.examples import TextData
    from regard.data.files import DataError
    from regard.tasks.base import TaskConfig, task_of
    from regard.tasks.pretraining.mlm import MaskedWords
    from regard.tasks.pretraining.plm import PermutedWords

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    run = Run(options.run)
    task = task_of(run, TaskConfig, "find hidden words")
    assert isinstance(task, MaskedWords | PermutedWords)
    found = task.scores(precise(task.load(run), options), TextData(**where(options)).open())
    if not found:
        raise DataError(f"{options.data}: no text (all lines are empty)")
    return dict(found)


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    counted = ("passages", "tokens")
    rows = [f"{name:<15}{value:.4f}" for name, value in result.items() if name not in counted]
    return "\n".join([*rows, f"{result['passages']:,} passages, {result['tokens']:,} tokens"])
