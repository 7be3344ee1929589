"""How far boxes overlap, against plain arithmetic."""

from __future__ import annotations

import torch

from regard.nn.boxes import centred, corners, generalised_iou, iou


def some_boxes(count: int) -> torch.Tensor:
    first = torch.rand(count, 2, dtype=torch.float64)
    return torch.cat([first, first + torch.rand(count, 2, dtype=torch.float64) * 0.6 + 0.01], -1)


def plainly(a: list[float], b: list[float]) -> tuple[float, float]:
    """Of two boxes, by cases."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = wide * high if wide > 0 and high > 0 else 0.0
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    hull = (max(a[2], b[2]) - min(a[0], b[0])) * (max(a[3], b[3]) - min(a[1], b[1]))
    return shared / union, shared / union - (hull - union) / hull


def test_overlaps_equal_a_plain_reference() -> None:
    one, other = some_boxes(30), some_boxes(40)
    plain = torch.tensor([[plainly(a, b) for b in other.tolist()] for a in one.tolist()], dtype=torch.float64)
    torch.testing.assert_close(iou(one[:, None], other), plain[..., 0])
    torch.testing.assert_close(generalised_iou(one[:, None], other), plain[..., 1])
    assert (plain[..., 0] == 0).any()
    assert (plain[..., 1] < 0).any()


def test_a_box_overlaps_with_itself_and_comes_back_from_its_centre() -> None:
    boxes = some_boxes(20)
    torch.testing.assert_close(generalised_iou(boxes, boxes), torch.ones(20, dtype=torch.float64))
    torch.testing.assert_close(corners(centred(boxes)), boxes)
    assert centred(torch.tensor([1.0, 2.0, 5.0, 4.0])).tolist() == [3, 3, 4, 2]
