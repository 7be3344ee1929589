"""Self-attention in a band: each token attends to its neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from regard.config import Size
from regard.nn.attention.layer import Mixer, MultiHead, SelfAttention
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.positions.base import HeadDims, Position


@dataclass(frozen=True)
class Banded(MultiHead, kind="banded"):
    """Attention to keys at most `reach` places away; a causal one looks back alone. Child et al. 2019, arXiv:1904.10509

    It computes all scores and hides those outside the band: its cost does not fall with `reach`.
    """

    reach: Size = 128

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        return BandedAttention(self, self.dims(width, causal), position)


class BandedAttention(SelfAttention):
    def __init__(self, config: Banded, dims: HeadDims, position: Position) -> None:
        super().__init__(config, dims, position)
        self.reach = config.reach

    def forward(self, x: Tensor, context: Context) -> Tensor:
        return super().forward(x, context.at(self.band(context.geometry)))

    def band(self, geometry: Geometry) -> Geometry:
        """The same sequence under a narrower mask, made once for all layers."""
        window = self.reach if geometry.mask.window is None else min(self.reach, geometry.mask.window)
        return geometry.once(("band", window), lambda: replace(geometry, mask=replace(geometry.mask, window=window)))
