"""Average precision of boxes, as COCO has it: at which precision boxes are found, over all recalls and classes, where a
box counts as found if it overlaps with the right one by at least so much. Lin et al. 2014, arXiv:1405.0312."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.results import Scores

OVERLAPS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
MOST_BOXES = 100  # of a class in a picture: the surest
TABLE_DIGITS = 3

Floats = NDArray[np.floating[Any]]
Labelled = tuple[NDArray[np.integer[Any]], Floats]  # classes (n,) and boxes (n, 4) by their corners
Found = tuple[NDArray[np.integer[Any]], Floats, Floats]  # the same, and how sure each is (n,)


@dataclass(frozen=True)
class BoxScores(Scores):
    """`precisions` (classes, overlaps) are average precisions, NaN for a class that is nowhere; `boxes` how many there
    are of each class."""

    names: tuple[str, ...]
    precisions: Floats
    boxes: Sequence[int]
    pictures: int
    loss: float | None = None

    def metrics(self) -> dict[str, float]:
        figures = {"ap": self.mean(slice(None)), "ap50": self.mean(slice(0, 1)), "ap75": self.mean(slice(5, 6))}
        return figures if self.loss is None else figures | {"loss": self.loss}

    def mean(self, overlaps: slice) -> float:
        chosen = self.precisions[:, overlaps]
        return float(chosen[~np.isnan(chosen)].mean()) if (~np.isnan(chosen)).any() else 0.0

    def record(self) -> dict[str, Any]:
        each = {
            name: {"ap": float(row.mean()), "ap50": float(row[0]), "ap75": float(row[5]), "boxes": count}
            for name, row, count in zip(self.names, self.precisions, self.boxes, strict=True)
            if count
        }
        return {**self.metrics(), "classes": each, "pictures": self.pictures, "boxes": sum(self.boxes)}

    def rows(self) -> list[list[str]]:
        """Of a table: each class, then all of them."""
        every = [*zip(self.names, self.precisions, self.boxes, strict=True)]
        found = [[name, *shown(row.mean(), row[0], row[5]), f"{count:,}"] for name, row, count in every if count]
        whole = self.metrics()
        return [*found, ["all", *shown(whole["ap"], whole["ap50"], whole["ap75"]), f"{sum(self.boxes):,}"]]

    def table(self) -> str:
        rows = [["", "AP", "AP50", "AP75", "boxes"], *self.rows()]
        wide = max(len(row[0]) for row in rows)
        lines = [row[0].ljust(wide) + "".join(cell.rjust(9) for cell in row[1:]) for row in rows]
        return "\n".join([*lines, f"{self.pictures:,} pictures"])


def shown(*values: float) -> list[str]:
    return [f"{value:.{TABLE_DIGITS}f}" for value in values]


def box_scores(
    names: Sequence[str], right: Sequence[Labelled], found: Sequence[Found], loss: float | None = None
) -> BoxScores:
    """Of what was found in pictures, against what is right."""
    precisions = np.full((len(names), len(OVERLAPS)), np.nan)
    counts = [sum(int((classes == number).sum()) for classes, _ in right) for number in range(len(names))]
    for number, count in enumerate(counts):
        if not count:
            continue
        scores, hits = [], []
        for (classes, boxes), (theirs, places, sure) in zip(right, found, strict=True):
            own = theirs == number
            order = np.argsort(-sure[own], kind="stable")[:MOST_BOXES]
            scores.append(sure[own][order])
            hits.append(matched(places[own][order], boxes[classes == number]))
        precisions[number] = average_precision(np.concatenate(scores), np.concatenate(hits), count)
    return BoxScores(tuple(names), precisions, counts, len(right), loss)


def matched(found: Floats, right: Floats) -> NDArray[np.bool_]:
    """(found, overlaps): whether each box, the surest first, meets a right one that none before it has met; of several
    the one that it overlaps with most, of equals the last."""
    shares, hits = overlap(found, right), np.zeros((len(found), len(OVERLAPS)), bool)
    for place, least in enumerate(OVERLAPS):
        free = np.ones(len(right), bool)
        for number in range(len(found)):
            share = np.where(free, shares[number], -1.0)
            if len(share) and share.max() >= min(least, 1 - 1e-10):
                best = len(share) - 1 - int(share[::-1].argmax())
                free[best], hits[number, place] = False, True
    return hits


def overlap(one: Floats, other: Floats) -> Floats:
    """(n, m): intersection over union, in double precision."""
    a, b = np.asarray(one, np.float64).reshape(-1, 1, 4), np.asarray(other, np.float64).reshape(1, -1, 4)
    wide = (np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])).clip(0).prod(-1)
    whole = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1)
    found: Floats = wide / np.maximum(whole - wide, np.finfo(np.float64).tiny)
    return found


def average_precision(scores: Floats, hits: NDArray[np.bool_], count: int) -> Floats:
    """(overlaps,): the mean over recalls of the best precision from there on."""
    order = np.argsort(-scores, kind="stable")
    right = hits[order].cumsum(0)
    recall, precision = right / count, right / np.arange(1, len(order) + 1)[:, None]
    best = np.maximum.accumulate(precision[::-1], 0)[::-1]
    found = np.zeros(len(OVERLAPS))
    for place in range(len(OVERLAPS)):
        at = np.searchsorted(recall[:, place], RECALLS, side="left")
        found[place] = np.append(best[:, place], 0.0)[at].mean()
    return found
