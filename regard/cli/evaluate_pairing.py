"""How `regard evaluate` scores a judge of pairs: labels as of texts, and Matthews; or the correlation of scores."""

from __future__ import annotations

import argparse
import time
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting, say
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what belongs to them."""
    import numpy as np

    from regard.data.examples import JudgedData
    from regard.metrics.certainty import calibration_error, intervals, label_intervals
    from regard.metrics.correlation import correlations, matthews
    from regard.metrics.label_scores import all_scores
    from regard.tasks.judging.pairing import as_labelled, load_judge, texts_of
    from regard.tasks.judging.text_classifier import numbers_of

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    judge = precise(load_judge(options.run), options)
    pairs = list(JudgedData(**where(options)).pairs())
    gold = [pair.label for pair in pairs]
    scores = [pair.score for pair in pairs] if judge.scale is not None else []
    right = np.zeros(0, dtype=np.int64)
    if judge.scale is None:  # a label that it cannot give is a mistake in the data
        right = np.array(numbers_of(as_labelled(pairs), judge.labels, "test"))
    start = time.perf_counter()
    with counting("pairs judged", len(pairs)) as done:
        verdicts = judge.judge(texts_of(pairs), options.batch, say, done)
    speed = {"pairs per second": len(pairs) / (time.perf_counter() - start)}
    if judge.scale is not None:
        error = float(np.abs(verdicts[:, 0] - np.array(scores)).mean())
        found = correlations(np.array(scores), verdicts[:, 0])
        sure = intervals(lambda chosen: correlations(np.array(scores)[chosen], verdicts[chosen, 0]), len(pairs))
        return {**found, "intervals": sure, "mean error": error, "pairs": len(pairs), **speed}
    best = verdicts.argmax(1)
    found_labels = [judge.labels[i] for i in best]
    plain = all_scores(gold, found_labels)
    trust = {
        "intervals": label_intervals(right, best, len(judge.labels)),
        "calibration_error": calibration_error(verdicts, right),
    }
    return {"pairs": plain.pop("texts"), "matthews": matthews(gold, found_labels), **plain, **trust, **speed}


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    from regard.cli.evaluate_classification import between
    from regard.cli.evaluate_classification import table as classes

    pairs = f"pairs     {result['pairs']:,}  ({result['pairs per second']:,.0f} a second)"
    if "pearson" in result:
        names = {"pearson": "Pearson", "spearman": "Spearman"}
        rows = [f"{title:<10}{result[key]:.4f}  ({between(result, key)})" for key, title in names.items()]
        return "\n".join([*rows, f"error     {result['mean error']:.4f}", pairs])
    return classes({**result, "texts": result["pairs"], "texts per second": result["pairs per second"]})
