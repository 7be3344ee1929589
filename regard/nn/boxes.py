"""Boxes as tensors (…, 4) of left, top, right, bottom, or of centre and size, and how far two of them overlap."""

from __future__ import annotations

import torch
from torch import Tensor


def corners(boxes: Tensor) -> Tensor:
    """Left, top, right, bottom of centre and size (x, y, width, height)."""
    centre, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat([centre - size / 2, centre + size / 2], -1)


def centred(boxes: Tensor) -> Tensor:
    """The opposite."""
    first, last = boxes[..., :2], boxes[..., 2:]
    return torch.cat([(first + last) / 2, last - first], -1)


def area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1)


def shared_and_union(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """The areas that belong to both of two boxes, and to either."""
    both = torch.cat([torch.maximum(one[..., :2], other[..., :2]), torch.minimum(one[..., 2:], other[..., 2:])], -1)
    shared = area(both)
    return shared, area(one) + area(other) - shared


def iou(one: Tensor, other: Tensor) -> Tensor:
    """Intersection over union of boxes by their corners, whose shapes are broadcast."""
    shared, union = shared_and_union(one, other)
    return shared / union


def generalised_iou(one: Tensor, other: Tensor) -> Tensor:
    """From -1 to 1: the same, less the share of the smallest box around both that belongs to neither. Rezatofighi et
    al. 2019, arXiv:1902.09630."""
    shared, union = shared_and_union(one, other)
    around = torch.cat([torch.minimum(one[..., :2], other[..., :2]), torch.maximum(one[..., 2:], other[..., 2:])], -1)
    hull = area(around)
    return shared / union - (hull - union) / hull
