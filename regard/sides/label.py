"""One label that comes out, of several that exclude each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import nearest
from regard.errors import DataError
from regard.metrics.labels import LabelScores
from regard.nn.agreement import label_loss
from regard.sides.base import Judgement, OutputSide, Row, Say, Verdicts, shortened

LABELS_NAMED = 10  # labels that a message names
LABELS_TO_DOUBT = 100  # labels: as many as there are texts, they are no classes
UNBALANCED_SHARE = 0.9  # the share of one label from which on it is said
ADVICE = "look at macro_f1 and matthews"
WEIGHED = "--balanced weighs each label by how rare it is"
SEPARATOR = "|"  # what parts several labels of one cell
MESSAGE_CHARACTERS = 40  # letters of a text or label in a message


@dataclass
class Label(OutputSide):
    """One of these `names`; `weights` say how much each counts while training."""

    metrics = ("accuracy", "macro_f1", "matthews", "loss")
    names: tuple[str, ...]
    weights: Tensor | None = field(default=None, repr=False)

    def marks(self, examples: Sequence[Any], which: str) -> list[Sequence[int]]:
        known = {label: i for i, label in enumerate(self.names)}
        for example in examples:
            if example.label not in known:
                raise DataError(unknown_label(example, example.label, self.names, which))
        return [(known[example.label],) for example in examples]

    def learnt(self, marks: Sequence[Row], balanced: bool, called: str, say: Say) -> None:
        given = torch.tensor([int(mark[0]) for mark in marks])
        if balanced:
            self.weights = class_weights(given, len(self.names))
        else:
            say_unbalanced([self.names[i] for i in given.tolist()], called, WEIGHED, say)

    def loss(self, logits: Tensor, marks: Sequence[Row], agreement: float) -> Tensor:
        right = torch.tensor([int(mark[0]) for mark in marks], device=logits.device)
        weights = None if self.weights is None else self.weights.to(logits.device)
        return label_loss(logits, right, weights, agreement)

    def verdicts(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)

    def said(self, verdict: NDArray[Any]) -> str:
        return self.names[int(verdict.argmax())]

    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        scores = ranked(self.names, verdict)
        label = next(iter(scores))
        return Judgement(label, {"label": label, "scores": scores}, given, scores[label])

    def nothing(self, given: Mapping[str, str]) -> Judgement:
        return Judgement("", {"label": None, "scores": {}}, given)

    def scores(self, examples: Sequence[Any], verdicts: Verdicts, which: str, called: str) -> LabelScores:
        right = np.array([mark[0] for mark in self.marks(examples, which)], dtype=np.int64)
        return LabelScores(self.names, right, verdicts, called)

    def wrong(self, examples: Sequence[Any], verdicts: Verdicts) -> list[int]:
        """The surest mistakes first."""
        order = np.argsort(-verdicts.max(1), kind="stable").tolist()
        return [i for i in order if self.said(verdicts[i]) != examples[i].label]


def ranked(names: Sequence[str], probabilities: NDArray[Any]) -> dict[str, float]:
    """Labels and probabilities, from the likeliest on."""
    return {names[i]: float(probabilities[i]) for i in np.argsort(-probabilities, kind="stable")}


def find_labels(examples: Iterable[Any], several: str = "", called: str = "texts") -> set[str]:
    """The labels of a training set; one alone cannot be told from another. What looks like several labels in one cell
    is refused, where `several` advises what to do about it."""
    found = Counter(example.label for example in examples)
    if len(found) < 2:
        alike = f"all training {called} have the label {next(iter(found), None)!r}"
        only = alike if found else f"there are no training {called}"
        raise DataError(f"{only}; a classifier takes at least two labels")
    if several and (cell := holds_several(found)):
        raise DataError(f"the label {cell!r} looks like several labels: {several}")
    if len(found) > LABELS_TO_DOUBT and 2 * len(found) > found.total():
        some = next(iter(found))[:MESSAGE_CHARACTERS]
        raise DataError(
            f"{found.total():,} training {called} have {len(found):,} labels, such as {some!r}: is the label another "
            "column? (--columns)"
        )
    return set(found)


def holds_several(found: Mapping[str, int]) -> str | None:
    """A label that is made of others with signs between them, where that is how this column writes several; else
    None."""
    joined = [name for name in found if SEPARATOR in name]
    parts = {part.strip() for name in joined for part in name.split(SEPARATOR)}
    alone = parts & found.keys()
    return joined[0] if joined and (alone or len(parts) < len(joined)) else None


def unknown_label(example: Any, label: str, names: Sequence[str], which: str) -> str:
    """What is said of a label that training never had."""
    some = f"{', '.join(names[:LABELS_NAMED])}{', …' if len(names) > LABELS_NAMED else ''}"
    close = nearest(label, names) if len(names) <= LABELS_NAMED else f"(known: {some})"
    place = f"{example.where}: " if example.where else ""
    if hasattr(example, "question"):
        called, shown = "question", f"{example.question!r} about {example.picture.name}"
    elif (picture := getattr(example, "picture", None)) is not None:
        called, shown = "picture", picture.name
    else:
        called = "text"
        shown = repr(shortened(getattr(example, "text", None) or example.first, MESSAGE_CHARACTERS))
    return f"{place}the {which} {called} {shown} has the label {label!r}, which no training {called} has: {close}"


def class_weights(given: Tensor, labels: int) -> Tensor:
    """(labels,): one over how often each occurs among those that were `given` by number, so that all count alike; their
    mean over what was given is 1."""
    counts = torch.bincount(given, minlength=labels).clamp(min=1)
    return len(given) / (labels * counts.float())


def say_unbalanced(labels: Iterable[str], which: str, advice: str, say: Say) -> None:
    """Where nearly all examples have one label, a model that always gives that one seems good."""
    found = Counter(labels)
    (label, count), *others = found.most_common()
    if not others:
        say(f"all {which} have the label {label!r}: what is right of others cannot be seen")
    elif count > UNBALANCED_SHARE * found.total():
        share = count / found.total()
        say(f"{share:.1%} of the {which} have the label {label!r}: always giving it is as accurate; {advice}")
