"""A plain convolutional network: the reader of small pictures in learning from a few examples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Size
from regard.nn.backbones.base import CHANNELS, Backbone, BackboneConfig, NormedConvolution


@dataclass(frozen=True)
class PooledNet(BackboneConfig, kind="pooled-net"):
    """So many `blocks` of a convolution, batch normalisation, ReLU and a maximum over 2 × 2, which halves each side.
    Vinyals et al. 2016, arXiv:1606.04080."""

    blocks: Size = 4
    inner: Size = 64

    def build(self, width: int) -> Backbone:
        return PooledNetLayers(self)


class PooledNetLayers(Backbone):
    def __init__(self, config: PooledNet) -> None:
        super().__init__()
        widths = [CHANNELS, *[config.inner] * config.blocks]
        self.blocks = nn.ModuleList(NormedConvolution(*pair, 3) for pair in itertools.pairwise(widths))
        self.width = config.inner

    def forward(self, pictures: Tensor) -> Tensor:
        x = pictures
        for block in self.blocks:
            x = F.max_pool2d(F.relu(block(x)), 2, ceil_mode=True)
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        for _ in self.blocks:
            height, width = -(-height // 2), -(-width // 2)
        return height, width
