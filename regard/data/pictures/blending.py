"""Pictures blended with each other while a model learns from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Rectangle = tuple[int, int, int, int]  # top, bottom, left, right


@dataclass(frozen=True)
class Blend:
    """Each picture of a batch with the one that stands at its place in `order`: `share` is how much of its own is left,
    `rectangle` what comes from the other; None where they are mixed all over."""

    order: NDArray[np.int64]
    share: float
    rectangle: Rectangle | None = None


def draw(
    count: int, side: int, mixup: float, cutmix: float, drawing: Callable[[], np.random.Generator]
) -> Blend | None:
    """How so many pictures are blended: mixup by Beta(a, a), Zhang et al. 2018, arXiv:1710.09412, or a rectangle cut
    from the other, Yun et al. 2019, arXiv:1905.04899; one or the other by equal chances where both are asked for. None
    where neither is."""
    if not mixup and not cutmix:
        return None
    random = drawing()
    cutting = bool(cutmix) and (not mixup or random.random() < 0.5)
    alpha = cutmix if cutting else mixup
    share, order = float(random.beta(alpha, alpha)), random.permutation(count)
    if not cutting:
        return Blend(order, share)
    length = side * (1 - share) ** 0.5
    middles = random.integers(side, size=2)
    (top, left), (bottom, right) = (
        np.clip(middles + shift, 0, side).round().astype(int).tolist() for shift in (-length / 2, length / 2)
    )
    return Blend(order, 1 - (bottom - top) * (right - left) / side**2, (top, bottom, left, right))


def blended(pictures: Tensor, blend: Blend) -> Tensor:
    """(B, 3, H, W)"""
    others = pictures[torch.from_numpy(blend.order).to(pictures.device)]
    if blend.rectangle is None:
        return torch.lerp(others, pictures, blend.share)
    top, bottom, left, right = blend.rectangle
    found = pictures.clone()
    found[:, :, top:bottom, left:right] = others[:, :, top:bottom, left:right]
    return found
