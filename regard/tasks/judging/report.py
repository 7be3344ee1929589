"""What the report of a run shows of a judge: each label, what was taken for what, and the worst mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.metrics.labels import LabelScores, label_table
from regard.metrics.many_labels import ManyLabelScores
from regard.page.records import ConfusionMatrix, Section, Table
from regard.sides import OneText
from regard.sides.base import Verdicts, shortened
from regard.tasks.judging.judge import Judge

MISTAKES = 8
MOST_DRAWN = 30  # labels of a confusion matrix
SALIENT_WORDS = 8  # words of a mistake
TEXT_CHARACTERS = 400  # letters of it


def report(judge: Judge[Any], examples: Sequence[Any], verdicts: Verdicts) -> list[Section]:
    """From what a judge says of examples whose right verdicts are known."""
    scores = judge.outcome.scores(examples, verdicts, "validation", judge.source.plural)
    sections = [Section(judge.outcome.mistakes, [mistakes(judge, examples, verdicts)])]
    if isinstance(scores, LabelScores):
        sections.insert(0, Section("What was taken for what", [taken(scores)]))
    if isinstance(scores, LabelScores | ManyLabelScores):
        sections.insert(0, Section("Each label", [label_table("label", scores.labels, judge.source.plural)]))
    return sections


def taken(scores: LabelScores) -> ConfusionMatrix:
    """Shares of each right label; of many, those with the most examples."""
    often = sorted(scores.labels, key=lambda score: -score.count)[:MOST_DRAWN]
    drawn = [score.name for score in scores.labels if score in often]
    counts = scores.taken()
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    places = [scores.names.index(name) for name in drawn]
    return ConfusionMatrix(drawn, shares[np.ix_(places, places)].tolist())


def mistakes(judge: Judge[Any], examples: Sequence[Any], verdicts: Verdicts) -> Table:
    """The worst; of a text alone with the words that the model attended to most."""
    alone, rows = isinstance(judge.source, OneText), []
    for i in judge.outcome.wrong(examples, verdicts)[:MISTAKES]:
        texts = judge.source.texts(judge.source.of(examples[i]))
        found = judge.outcome.result(verdicts[i], {})
        said = found.said if found.score is None else f"{found.said} ({found.score:.2f})"
        row = [*(shortened(text, TEXT_CHARACTERS) for text in texts), said, judge.outcome.right(examples[i])]
        if alone:
            row.append(", ".join(word for word, _ in judge.look(*texts).salient()[:SALIENT_WORDS]))
        rows.append(row)
    header = [*judge.source.names, "found", "right", *(["attended to most"] if alone else [])]
    return Table(header, rows, empty="There is none.")
