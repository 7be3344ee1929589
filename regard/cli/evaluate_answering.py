"""How `regard evaluate` scores answers: exact match and F1, as SQuAD does."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.progress import counting


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, as shares."""
    from regard.tasks.answerer import answer_scores
    from regard.tasks.answering import load_answerer, right_of
    from regard.tasks.examples import QuestionData

    if changes := read_changes(rest):
        raise ValueError(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    answerer = load_answerer(options.run)
    questions = list(QuestionData(**where(options)).open())
    with counting("windows read") as done:
        found = answerer.answer([(one.question, one.context) for one in questions], batch=options.batch, done=done)
    scores = answer_scores([answer.text for answer in found], [right_of(one) for one in questions])
    return {**scores, "questions": len(questions)}


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    names = {"f1": "F1", "exact": "exact", "f1_answered": "F1 (answered)", "none_right": "none, rightly"}
    rows = [f"{title:<15}{result[name]:.4f}" for name, title in names.items() if name in result]
    return "\n".join([*rows, f"{result['questions']:,} questions"])
