"""Residual networks of convolutions. He et al. 2016, arXiv:1512.03385."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import ConfigError, Size
from regard.nn.backbones.attention import GridAttention
from regard.nn.backbones.base import CHANNELS, Backbone, BackboneConfig, NormedConvolution

Stem = Literal["large", "small"]

BOTTLENECK = 4  # a block with a bottleneck gives so many times the values that it computes with
STEMS = {"large": (7, 2), "small": (3, 1)}  # size and stride of the first convolution


@dataclass(frozen=True)
class ResidualNet(BackboneConfig, kind="residual-net"):
    """Stages of blocks with a way past each; each stage but the first halves the picture and doubles the width.

    `blocks` are how many each stage has: (2, 2, 2, 2) is ResNet-18, (3, 4, 6, 3) with a `bottleneck` ResNet-50. A
    `large` stem makes a quarter of the picture first, a `small` one leaves it as it is, for pictures of 32 pixels.
    `attention` names stages, from 1 on, behind which each place attends to all others (Zhang et al. 2019,
    arXiv:1805.08318).
    """

    blocks: tuple[int, ...] = (2, 2, 2, 2)
    inner: Size = 64
    bottleneck: bool = False
    stem: Stem = "large"
    attention: tuple[int, ...] = ()

    def check(self) -> None:
        if not self.blocks or min(self.blocks) < 1:
            raise ConfigError(f"blocks {self.blocks}: every stage takes at least one block")
        if wrong := [stage for stage in self.attention if not 1 <= stage <= len(self.blocks)]:
            raise ConfigError(f"attention behind stage {wrong[0]}: there are stages 1 to {len(self.blocks)}")

    def build(self, width: int) -> Backbone:
        return ResidualNetLayers(self)


class ResidualNetLayers(Backbone):
    def __init__(self, config: ResidualNet) -> None:
        super().__init__()
        size, stride = STEMS[config.stem]
        self.pooled = config.stem == "large"
        self.first = NormedConvolution(CHANNELS, config.inner, size, stride)
        given, stages = config.inner, []
        for stage, count in enumerate(config.blocks):
            inner = config.inner << stage
            blocks: list[nn.Module] = []
            for number in range(count):
                block = ResidualBlock(given, inner, 2 if stage and not number else 1, config.bottleneck)
                blocks.append(block)
                given = block.width
            if stage + 1 in config.attention:
                blocks.append(GridAttention(given))
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)
        self.width = given

    def forward(self, pictures: Tensor) -> Tensor:
        x = F.relu(self.first(pictures))
        if self.pooled:
            x = F.max_pool2d(x, 3, stride=2, padding=1)
        for stage in self.stages:
            x = stage(x)
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return self.side(height), self.side(width)

    def side(self, length: int) -> int:
        """How many cells a side of so many pixels becomes."""
        length = self.first.after(length)
        length = (length + 1) // 2 if self.pooled else length
        for _ in self.stages[1:]:
            length = (length + 1) // 2
        return length


class ResidualBlock(nn.Module):
    """Two convolutions over 3 × 3 places; with a bottleneck one, between two that change the width."""

    def __init__(self, given: int, inner: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        self.width = inner * BOTTLENECK if bottleneck else inner
        if bottleneck:
            layers = [
                NormedConvolution(given, inner, 1),
                NormedConvolution(inner, inner, 3, stride),
                NormedConvolution(inner, self.width, 1),
            ]
        else:
            layers = [NormedConvolution(given, inner, 3, stride), NormedConvolution(inner, inner, 3)]
        self.layers = nn.ModuleList(layers)
        same = given == self.width and stride == 1
        self.past = None if same else NormedConvolution(given, self.width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        past = x if self.past is None else self.past(x)
        *inner, last = self.layers
        for layer in inner:
            x = F.relu(layer(x))
        return F.relu(last(x) + past)
