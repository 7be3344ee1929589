"""How `regard evaluate` scores answers: exact match and F1, as SQuAD does."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, as shares."""
    from regard.cli.answer import threshold_of
    from regard.data.examples import QuestionData
    from regard.metrics.answers import judged_answers
    from regard.metrics.certainty import intervals
    from regard.tasks.answering.task import load_answerer, right_of

    changes = read_changes(rest)
    threshold = threshold_of(changes.pop("threshold", 0.0))
    if changes:
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    answerer = precise(load_answerer(options.run), options)
    questions = list(QuestionData(**where(options)).open())
    with counting("windows read") as done:
        asked = [(one.question, one.context) for one in questions]
        found = answerer.answer(asked, threshold, options.batch, done=done)
    judged = judged_answers([answer.text for answer in found], [right_of(one) for one in questions])
    sure = intervals(judged.scores, len(questions))
    return {**judged.scores(), "intervals": sure, "questions": len(questions)}


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    from regard.cli.evaluate_classification import between

    names = {"f1": "F1", "exact": "exact", "f1_answered": "F1 (answered)", "none_right": "none, rightly"}
    sure = {name: f"  (95% of such test sets: {between(result, name)})" for name in result["intervals"]}
    rows = [f"{title:<15}{result[name]:.4f}{sure.get(name, '')}" for name, title in names.items() if name in result]
    return "\n".join([*rows, f"{result['questions']:,} questions"])
