"""Matching against all permutations, and the losses against their formulas."""

from __future__ import annotations

import builtins
import itertools
from typing import Any

import pytest
import torch

from regard.config import kinds
from regard.errors import Error
from regard.nn.boxes import corners, generalised_iou
from regard.nn.matching import Focal, MatchingConfig, OneOfAll, Things

pytest.importorskip("scipy")

CLASSES, QUERIES = 3, 5
every_matching = pytest.mark.parametrize("kind", kinds(MatchingConfig).values(), ids=lambda kind: str(kind.kind))


def some_boxes(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, 4) * 0.5 + 0.1


def some_things() -> Things:
    """Of three pictures, one of them empty."""
    rows = [([0, 2, 2], some_boxes(3).numpy()), ([], some_boxes(0).numpy()), ([1], some_boxes(1).numpy())]
    return Things.of(rows)


def some_answers(matching: MatchingConfig, layers: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(layers, 3, QUERIES, CLASSES + matching.extra), some_boxes(layers, 3, QUERIES)


@every_matching
def test_the_matching_is_the_cheapest_of_all(kind: type[MatchingConfig]) -> None:
    matching, things = kind(), some_things()
    logits, boxes = some_answers(matching)
    costs, matched = matching.costs(logits, boxes, things), matching.match(logits, boxes, things)
    assert torch.equal(matched.is_there, things.real.expand(2, -1, -1))
    for layer, row in itertools.product(range(2), (0, 2)):
        count = int(things.real[row].sum())
        tried = itertools.permutations(range(QUERIES), count)
        best = min(tried, key=lambda chosen: sum(costs[layer, row, q, m] for m, q in enumerate(chosen)).item())
        assert matched.predictions[layer, row, :count].tolist() == list(best)


def test_a_matching_costs_what_the_paper_says() -> None:
    matching, things = OneOfAll(), some_things()
    logits, boxes = some_answers(matching)
    costs = matching.costs(logits, boxes, things)
    one, other = boxes[1, 0, 4], things.boxes[0, 1]
    chance = logits[1, 0, 4].softmax(-1)[2]
    overlap = generalised_iou(corners(one), corners(other))
    torch.testing.assert_close(costs[1, 0, 4, 1], -chance + 5 * (one - other).abs().sum() - 2 * overlap)


def test_the_loss_is_what_the_paper_says() -> None:
    """Worked out prediction by prediction."""
    matching, things = OneOfAll(none=0.1), some_things()
    logits, boxes = some_answers(matching, layers=1)
    matched = matching.match(logits, boxes, things)
    logs, summed, weight = logits[0].log_softmax(-1), torch.zeros(()), 0.0
    far = torch.zeros(())
    for row, query in itertools.product(range(3), range(QUERIES)):
        mine = (matched.predictions[0, row] == query) & matched.is_there[0, row]
        right, share = CLASSES, 0.1
        if mine.any():
            thing = int(mine.nonzero())
            right, share = int(things.classes[row, thing]), 1.0
            one, other = boxes[0, row, query], things.boxes[row, thing]
            far = far + 5 * (one - other).abs().sum() + 2 * (1 - generalised_iou(corners(one), corners(other)))
        summed, weight = summed - share * logs[row, query, right], weight + share
    torch.testing.assert_close(matching.loss(logits, boxes, things, matched), summed / weight + far / 4)


def test_focal_losses_are_those_of_their_paper() -> None:
    matching, things = Focal(l1=0, giou=0), some_things()
    logits, boxes = some_answers(matching, layers=1)
    matched = matching.match(logits, boxes, things)
    chances, expected = logits[0].sigmoid(), torch.zeros(())
    for row, query, label in itertools.product(range(3), range(QUERIES), range(CLASSES)):
        mine = (matched.predictions[0, row] == query) & matched.is_there[0, row]
        is_right = bool((things.classes[row][mine] == label).any())
        p = chances[row, query, label] if is_right else 1 - chances[row, query, label]
        expected = expected - (0.25 if is_right else 0.75) * (1 - p) ** 2 * p.log()
    torch.testing.assert_close(matching.loss(logits, boxes, things, matched), 2 * expected / 4)


@every_matching
def test_more_things_than_predictions_and_numbers_that_are_none_do_no_harm(kind: type[MatchingConfig]) -> None:
    matching = kind()
    things = Things.of([([0] * 7, some_boxes(7).numpy())])
    logits, boxes = torch.randn(1, 1, QUERIES, CLASSES + matching.extra), some_boxes(1, 1, QUERIES)
    logits[0, 0, 1] = torch.nan
    matched = matching.match(logits, boxes, things)
    assert int(matched.is_there.sum()) == QUERIES
    assert matched.predictions[matched.is_there].unique().tolist() == list(range(QUERIES))


@every_matching
def test_pictures_without_things_still_teach_that_there_are_none(kind: type[MatchingConfig]) -> None:
    matching, things = kind(), Things.of([([], []), ([], [])])
    logits = torch.zeros(1, 2, QUERIES, CLASSES + matching.extra, requires_grad=True)
    boxes = some_boxes(1, 2, QUERIES)
    matching.loss(logits, boxes, things, matching.match(logits, boxes, things)).backward()
    assert logits.grad is not None
    assert (logits.grad[..., 0] > 0).all()


def test_without_scipy_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Error, match="scipy, which is not installed: pip install"):
        OneOfAll().match(*some_answers(OneOfAll()), some_things())
