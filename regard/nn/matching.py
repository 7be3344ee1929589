"""Sets of things that a model predicts against those that are there: each thing gets a prediction of its own, by the
cheapest matching, and a loss. Carion et al. 2020, arXiv:2005.12872."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Part, Rate, Weight
from regard.errors import Error
from regard.nn.boxes import corners, generalised_iou


@dataclass(frozen=True)
class Things:
    """What is in each picture of a batch: classes (B, M) and boxes (B, M, 4), centre and size as shares of the
    picture, of which `real` (B, M) are there."""

    classes: Tensor
    boxes: Tensor
    real: Tensor

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, Any]], device: torch.device | None = None) -> Things:
        """Of pictures with these classes and boxes (n, 4)."""
        most = max((len(classes) for classes, _ in rows), default=0)
        classes, boxes = np.zeros((len(rows), most), np.int64), np.zeros((len(rows), most, 4), np.float32)
        real = np.zeros((len(rows), most), bool)
        for row, (names, places) in enumerate(rows):
            if len(names):
                classes[row, : len(names)], boxes[row, : len(names)], real[row, : len(names)] = names, places, True
        return cls(*(torch.from_numpy(one).to(device) for one in (classes, boxes, real)))

    @property
    def count(self) -> int:
        return int(self.real.sum())


@dataclass(frozen=True)
class Matched:
    """For each thing (L, B, M) the prediction of each layer that is matched with it, where there `is_there` one."""

    predictions: Tensor
    is_there: Tensor


def assignment(costs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and columns of the cheapest matching."""
    return solver()(costs)


def solver() -> Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]:
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise Error("boxes are matched by scipy, which is not installed: pip install 'regard[vision]'") from None
    return linear_sum_assignment  # type: ignore[no-any-return]


@dataclass(frozen=True)
class MatchingConfig(Part, family="matching"):
    """How predictions and things are matched, and the loss of a matching: of classes, of the distance of boxes (`l1`)
    and of their overlap (`giou`)."""

    l1: Weight = 5.0
    giou: Weight = 2.0

    extra: ClassVar[int] = 0  # logits of a prediction beside those of its classes
    prior: ClassVar[float] = 0.0  # of logits, before anything is learnt

    def class_cost(self, logits: Tensor, classes: Tensor) -> Tensor:
        """(…, Q, M): what it costs that predictions (…, Q, C) are of these classes (…, M)."""
        raise TypeError(f"{type(self).__name__} is a family, not a matching")

    def class_loss(self, logits: Tensor, right: Tensor, boxes: int) -> Tensor:
        """Of predictions (L, B, Q, C), of which those are `right` (L, B, Q) classes, C where there is nothing."""
        raise TypeError(f"{type(self).__name__} is a family, not a matching")

    def chances(self, logits: Tensor) -> Tensor:
        """(…, Q, classes): how sure a prediction is of each class."""
        raise TypeError(f"{type(self).__name__} is a family, not a matching")

    @torch.no_grad()
    def match(self, logits: Tensor, boxes: Tensor, things: Things) -> Matched:
        """Of predictions (L, B, Q, …), for each of L layers by itself; all costs are computed and fetched at once."""
        found = self.costs(logits.float(), boxes.float(), things)
        costs = found.nan_to_num(*[torch.finfo(found.dtype).max] * 3).cpu().numpy()
        real = things.real.cpu().numpy()
        chosen = np.full((*costs.shape[:2], costs.shape[-1]), -1, dtype=np.int64)
        for layer, row in np.ndindex(costs.shape[:2]):
            places = np.flatnonzero(real[row])
            queries, which = assignment(costs[layer, row][:, places])
            chosen[layer, row, places[which]] = queries
        predictions = torch.from_numpy(chosen).to(logits.device)
        return Matched(predictions.clamp(min=0), predictions >= 0)

    def costs(self, logits: Tensor, boxes: Tensor, things: Things) -> Tensor:
        """(L, B, Q, M)"""
        found = self.class_cost(logits, things.classes)
        if self.l1:
            found = found + self.l1 * (boxes.unsqueeze(-2) - things.boxes.unsqueeze(-3)).abs().sum(-1)
        if self.giou:
            one, other = corners(boxes).unsqueeze(-2), corners(things.boxes).unsqueeze(-3)
            found = found - self.giou * generalised_iou(one, other)
        return found

    def loss(self, logits: Tensor, boxes: Tensor, things: Things, matched: Matched) -> Tensor:
        """The sum over layers, each divided by the number of boxes."""
        logits, boxes, count = logits.float(), boxes.float(), max(things.count, 1)
        right = torch.full(logits.shape[:-1], logits.shape[-1] - self.extra, device=logits.device)
        layer, row, thing = matched.is_there.nonzero(as_tuple=True)
        query = matched.predictions[layer, row, thing]
        right[layer, row, query] = things.classes[row, thing]
        found, there = boxes[layer, row, query], things.boxes[row, thing]
        distance = (found - there).abs().sum()
        apart = (1 - generalised_iou(corners(found), corners(there))).sum()
        return self.class_loss(logits, right, count) + (self.l1 * distance + self.giou * apart) / count


@dataclass(frozen=True)
class OneOfAll(MatchingConfig, kind="one-of-all"):
    """DETR's: a prediction is of one class or of none, and `none` says how much those of none weigh. What is matched
    costs -p, and loses -log p."""

    extra: ClassVar[int] = 1

    none: Rate = 0.1

    def class_cost(self, logits: Tensor, classes: Tensor) -> Tensor:
        return -picked(self.chances(logits), classes)

    def class_loss(self, logits: Tensor, right: Tensor, boxes: int) -> Tensor:
        weights = torch.ones(logits.shape[-1], device=logits.device)
        weights[-1] = self.none
        each = F.cross_entropy(logits.flatten(0, -2), right.flatten(), weights, reduction="none")
        weighed = weights[right].flatten(1).sum(1)
        return (each.view(len(logits), -1).sum(1) / weighed).sum()

    def chances(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)[..., :-1]


@dataclass(frozen=True)
class Focal(MatchingConfig, kind="focal"):
    """Each class by itself, yes or no; what is already sure hardly counts. Lin et al. 2017, arXiv:1708.02002, with the
    costs and weights of Deformable DETR: Zhu et al. 2021, arXiv:2010.04159."""

    prior: ClassVar[float] = -math.log(99)  # a chance of one in a hundred

    weight: Weight = 2.0
    positive: Rate = 0.25
    power: Weight = 2.0

    def class_cost(self, logits: Tensor, classes: Tensor) -> Tensor:
        yes, no = self.both(logits)
        return self.weight * picked(yes - no, classes)

    def class_loss(self, logits: Tensor, right: Tensor, boxes: int) -> Tensor:
        yes, no = self.both(logits)
        is_right = F.one_hot(right, logits.shape[-1] + 1)[..., :-1].bool()
        return self.weight * torch.where(is_right, yes, no).sum() / boxes

    def both(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The losses of each class where it is right, and where it is not."""
        chances = logits.sigmoid()
        yes = -self.positive * (1 - chances) ** self.power * F.logsigmoid(logits)
        return yes, -(1 - self.positive) * chances**self.power * F.logsigmoid(-logits)

    def chances(self, logits: Tensor) -> Tensor:
        return logits.sigmoid()


def picked(values: Tensor, classes: Tensor) -> Tensor:
    """(L, B, Q, M): of values (L, B, Q, C) those of the classes (B, M)."""
    index = classes[None, :, None].expand(*values.shape[:-1], classes.shape[-1])
    return values.gather(-1, index)
