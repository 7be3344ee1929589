"""Average precision against COCO's own code, and on cases that can be counted by hand."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

from regard.metrics.boxes import box_scores

NAMES = ("cat", "dog", "nobody")


def drawn(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    first = random.uniform(0, 60, (count, 2))
    return random.integers(0, 2, count), np.concatenate([first, first + random.uniform(4, 40, (count, 2))], 1)


def near(random: np.random.Generator, right: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Some of the right boxes, moved a little, some of them twice, and others; many as sure as others."""
    classes, boxes = right
    picked = random.integers(0, max(len(classes), 1), 2 * len(classes))
    moved = boxes[picked] + random.normal(0, 2, (len(picked), 4))
    more_classes, more = drawn(random, int(random.integers(0, 6)))
    found = np.concatenate([moved, more])
    found[:, 2:] = np.maximum(found[:, 2:], found[:, :2] + 1)
    return np.concatenate([classes[picked], more_classes]), found, random.integers(0, 20, len(found)) / 20


@pytest.mark.parametrize("seed", range(3))
def test_average_precision_equals_that_of_coco(seed: int) -> None:
    coco = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    random = np.random.default_rng(seed)
    right = [drawn(random, int(random.integers(0, 8))) for _ in range(30)]
    found = [near(random, one) for one in right]
    scores = box_scores(NAMES, right, found)
    truth = coco.COCO()
    truth.dataset = {
        "images": [{"id": number + 1} for number in range(len(right))],
        "categories": [{"id": number + 1, "name": name} for number, name in enumerate(NAMES)],
        "annotations": [
            {"id": 0, "image_id": number + 1, "category_id": int(c) + 1, "bbox": wide(b), "iscrowd": 0}
            | {"area": float((b[2] - b[0]) * (b[3] - b[1]))}
            for number, one in enumerate(right)
            for c, b in zip(*one, strict=True)
        ],
    }
    for number, one in enumerate(truth.dataset["annotations"], 1):
        one["id"] = number
    answers = [
        {"image_id": number + 1, "category_id": int(c) + 1, "bbox": wide(b), "score": float(s)}
        for number, one in enumerate(found)
        for c, b, s in zip(*one, strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        judge = evaluation.COCOeval(truth, truth.loadRes(answers), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    figures = scores.metrics()
    expected = dict(zip(("ap", "ap50", "ap75"), judge.stats[:3].tolist(), strict=True))
    assert figures == pytest.approx(expected, abs=1e-9)
    assert 0.05 < figures["ap"] < figures["ap50"] < 1


def wide(box: Any) -> list[float]:
    left, top, right, bottom = box.tolist()
    return [left, top, right - left, bottom - top]


def test_a_box_that_is_found_twice_is_found_once() -> None:
    right = [(np.array([0]), np.array([[0.0, 0, 10, 10]]))]
    twice = [(np.array([0, 0]), np.array([[0.0, 0, 10, 10], [0, 0, 10, 9]]), np.array([0.6, 0.9]))]
    scores = box_scores(NAMES, right, twice).metrics()
    assert scores["ap50"] == 1
    assert scores["ap"] == pytest.approx((9 * 1 + 0.5) / 10)  # the surer one overlaps by 0.9
    nothing = [(np.zeros(0, int), np.zeros((0, 4)), np.zeros(0))]
    assert box_scores(NAMES, right, nothing).metrics()["ap50"] == 0


def test_classes_that_are_nowhere_do_not_count() -> None:
    right = [(np.array([1]), np.array([[0.0, 0, 10, 10]])), (np.zeros(0, int), np.zeros((0, 4)))]
    found = [(np.array([1, 0]), np.array([[0.0, 0, 10, 10]] * 2), np.array([0.5, 0.9]))] * 2
    scores = box_scores(NAMES, right, found)
    assert scores.metrics()["ap"] == 1  # of two that are equally sure the first is right
    assert list(scores.record()["classes"]) == ["dog"]
    assert scores.record()["pictures"] == 2
    assert "dog" in scores.table()
    assert "nobody" not in scores.table()
