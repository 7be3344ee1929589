"""What the report of a run shows of a classifier: each class, what was taken for what, and the surest mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.data.labelled import Labelled
from regard.metrics.label_scores import confusion
from regard.metrics.labels import LabelScore, label_scores
from regard.page.records import ConfusionMatrix, Section, Table
from regard.tasks.judging.text_classifier import TextClassifier

MISTAKES = 8
MOST_DRAWN = 30  # classes of a confusion matrix
SALIENT = 8  # words of a mistake
SHOWN = 400  # letters of it


def report(
    classifier: TextClassifier, examples: Sequence[Labelled], probabilities: np.ndarray[Any, Any]
) -> list[Section]:
    """From the probabilities (texts, labels) of some texts whose labels are known."""
    gold = [example.label for example in examples]
    found = [classifier.labels[i] for i in probabilities.argmax(1)]
    scores = label_scores(gold, found)
    return [
        Section("Each class", [classes(scores)]),
        Section("What was taken for what", [taken(gold, found, scores)]),
        Section("The surest mistakes", [mistakes(classifier, examples, found, probabilities.max(1))]),
    ]


def classes(scores: Sequence[LabelScore]) -> Table:
    rows = [
        [one.name, f"{one.precision:.3f}", f"{one.recall:.3f}", f"{one.f1:.3f}", f"{one.count:,}"] for one in scores
    ]
    return Table(["class", "precision", "recall", "F1", "texts"], rows)


def taken(gold: Sequence[str], found: Sequence[str], scores: Sequence[LabelScore]) -> ConfusionMatrix:
    """Shares of each right label; of many, those with the most texts."""
    often = sorted(scores, key=lambda score: -score.count)[:MOST_DRAWN]
    drawn = [score.name for score in scores if score in often]
    names = [score.name for score in scores]
    counts = confusion(gold, found, names)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    places = [names.index(name) for name in drawn]
    return ConfusionMatrix(drawn, shares[np.ix_(places, places)].tolist())


def mistakes(
    classifier: TextClassifier, examples: Sequence[Labelled], found: Sequence[str], sure: np.ndarray[Any, Any]
) -> Table:
    """Those of which the classifier was surest, with the words that it attended to most."""
    wrong = [i for i in np.argsort(-sure, kind="stable") if found[i] != examples[i].label][:MISTAKES]
    rows = []
    for i in wrong:
        text = examples[i].text
        words = ", ".join(word for word, _ in classifier.look(text).salient()[:SALIENT])
        shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        rows.append([shown, f"{found[i]} ({sure[i]:.2f})", examples[i].label, words])
    return Table(["text", "found", "right", "attended to most"], rows, empty="There is none.")
