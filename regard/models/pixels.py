"""Pictures as models read them."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.models.base import Scaling

WHITE = 255  # the highest value of a colour
MEANS_AND_DEVIATIONS: dict[Scaling, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "half": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}


def scaled(pixels: NDArray[Any] | Tensor, scaling: Scaling, device: torch.device | None = None) -> Tensor:
    """Pixels (B, H, W, 3) from 0 to 255 → pictures (B, 3, H, W) of real numbers."""
    mean, deviation = (torch.tensor(some, device=device) for some in MEANS_AND_DEVIATIONS[scaling])
    values = torch.as_tensor(pixels, device=device).float()
    return ((values / WHITE - mean) / deviation).permute(0, 3, 1, 2).contiguous()
