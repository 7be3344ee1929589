"""How `regard evaluate` scores a classifier: accuracy, macro-F1, Matthews, each class, and what was taken for what."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.precision import precise
from regard.cli.progress import counting, say
from regard.errors import Error

if TYPE_CHECKING:
    from regard.data.labelled import Labelled

MOST_TABLED = 20  # classes of a confusion table on a terminal


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what belongs to them."""
    import numpy as np

    from regard.metrics.certainty import calibration_error, label_intervals
    from regard.metrics.correlation import matthews
    from regard.metrics.label_scores import all_scores
    from regard.tasks.judging.classification import load_classifier
    from regard.tasks.judging.text_classifier import numbers_of

    if rest:
        raise Error(f"unexpected argument {rest[0]!r}; see regard evaluate --help")
    classifier = precise(load_classifier(options.run), options)
    examples = read_examples(options)
    right = np.array(numbers_of(examples, classifier.labels, "test"))  # a label it cannot give is a mistake in the data
    start = time.perf_counter()
    with counting("texts classified", len(examples)) as done:
        chances = classifier.probabilities([example.text for example in examples], options.batch, say, done)
    seconds, found = time.perf_counter() - start, chances.argmax(1)
    gold, labels = [example.label for example in examples], [classifier.labels[i] for i in found]
    return {
        **all_scores(gold, labels),
        "matthews": matthews(gold, labels),
        "intervals": label_intervals(right, found, len(classifier.labels)),
        "calibration_error": calibration_error(chances, right),
        "texts per second": len(examples) / seconds,
    }


def read_examples(options: argparse.Namespace) -> list[Labelled]:
    from regard.checkpoint import Run
    from regard.data.catalogue import data_sets
    from regard.data.examples import LabelledData

    if not options.data:
        raise Error("there is nothing to classify: give --data")
    if options.data in data_sets() or not (Path(options.data).suffix or Path(options.data).exists()):
        own = Run(options.run).section("task").get("valid", {})  # the way to label that it was trained with
        languages = options.languages or (own.get("languages") if own.get("name") == options.data else None)
        where: dict[str, Any] = {"name": options.data, "languages": languages, "split": options.split}
    else:
        where = {"file": options.data, "columns": tuple(options.columns.split(",")) if options.columns else None}
    return list(LabelledData(count=options.count, **where).texts())


def table(result: dict[str, Any]) -> str:
    lines = [
        f"accuracy  {result['accuracy']:.4f}  (95% of such test sets: {between(result, 'accuracy')})",
        f"macro-F1  {result['macro_f1']:.4f}  ({between(result, 'macro_f1')})",
        f"Matthews  {result['matthews']:.4f}  ({between(result, 'matthews')})",
        f"its probabilities are {result['calibration_error']:.3f} off on the mean (expected calibration error)",
        f"texts     {result['texts']:,}  ({result['texts per second']:,.0f} a second)",
        "",
    ]
    width = max(len("class"), *(len(name) for name in result["classes"])) + 2
    lines.append(f"{'class':<{width}}precision  recall      F1   texts")
    for name, one in result["classes"].items():
        row = f"{one['precision']:9.3f}{one['recall']:8.3f}{one['f1']:8.3f}{one['texts']:8,}"
        lines.append(f"{name:<{width}}{row}")
    return "\n".join([*lines, *confused(result["confusion"], list(result["classes"]), width)])


def between(result: dict[str, Any], name: str) -> str:
    low, high = result["intervals"][name]
    return f"{low:.4f}–{high:.4f}"


def confused(confusion: dict[str, dict[str, int]], names: list[str], width: int) -> list[str]:
    """What was taken for what: a table, or of many classes the combinations that are wrong most often."""
    if len(names) <= MOST_TABLED:
        cell = max(6, *(len(name) for name in names)) + 2
        head = f"{'right ↓ found →':<{max(width, 17)}}" + "".join(f"{name:>{cell}}" for name in names)
        rows = [
            f"{name:<{max(width, 17)}}"
            + "".join(f"{confusion.get(name, {}).get(other, 0):>{cell},}" for other in names)
            for name in names
        ]
        return ["", head, *rows]
    wrong = [(count, name, other) for name, row in confusion.items() for other, count in row.items() if name != other]
    often = sorted(wrong, key=lambda one: -one[0])[:MOST_TABLED]
    return ["", "most often taken for another", *(f"{count:6,}  {name} → {other}" for count, name, other in often)]
