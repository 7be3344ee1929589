"""Networks of inverted residual blocks, which need few operations. MobileNetV2: Sandler et al. 2018, arXiv:1801.04381;
EfficientNet: Tan and Le 2019, arXiv:1905.11946, whose "lite" form has neither squeezing nor Swish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Config, ConfigError, Positive, Size
from regard.nn.backbones.base import CHANNELS, Backbone, BackboneConfig, NormedConvolution

Normed = Callable[..., NormedConvolution]


@dataclass(frozen=True)
class InvertedStage(Config):
    """So many blocks in a row of `width`: each expands its input `expand` times, convolves each of these channels for
    itself over `size` × `size` places, and makes it narrow again. The first has the `stride`."""

    count: Size = 1
    width: Size = 16
    expand: Size = 6
    size: Size = 3
    stride: Size = 1


LITE0 = (
    InvertedStage(1, 16, expand=1),
    InvertedStage(2, 24, stride=2),
    InvertedStage(2, 40, size=5, stride=2),
    InvertedStage(3, 80, stride=2),
    InvertedStage(3, 112, size=5),
    InvertedStage(4, 192, size=5, stride=2),
    InvertedStage(1, 320),
)


@dataclass(frozen=True)
class InvertedResidualNet(BackboneConfig, kind="inverted-residual-net"):
    """EfficientNet-Lite0 unless told: a convolution that halves the picture, the `stages`, and at the end, where it has
    one, a wide convolution over single places. `eps` is that of its batch norms. Sides are padded as TensorFlow does,
    where these networks were first trained; "even", by as much in front as behind, as some were trained since."""

    stem: Size = 32
    stages: tuple[InvertedStage, ...] = LITE0
    end: Size | None = 1280
    eps: Positive = 1e-3
    padding: Literal["tensorflow", "even"] = "tensorflow"

    def check(self) -> None:
        if not self.stages:
            raise ConfigError("a network of inverted residual blocks takes at least one stage")

    def build(self, width: int) -> Backbone:
        return InvertedResidualNetLayers(self)


class InvertedResidualNetLayers(Backbone):
    def __init__(self, config: InvertedResidualNet) -> None:
        super().__init__()
        normed: Normed = partial(NormedConvolution, same=config.padding == "tensorflow", eps=config.eps)
        self.first = normed(CHANNELS, config.stem, 3, 2)
        blocks, given = [], config.stem
        for stage in config.stages:
            for number in range(stage.count):
                stride = 1 if number else stage.stride
                blocks.append(InvertedBlock(normed, given, stage.width, stage.expand, stage.size, stride))
                given = stage.width
        self.blocks = nn.ModuleList(blocks)
        self.last = None if config.end is None else normed(given, config.end, 1)
        self.width = config.end or given

    def forward(self, pictures: Tensor) -> Tensor:
        x = F.relu6(self.first(pictures))
        for block in self.blocks:
            x = block(x)
        return x if self.last is None else F.relu6(self.last(x))

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return self.side(height), self.side(width)

    def side(self, length: int) -> int:
        """How many cells a side of so many pixels becomes."""
        length = self.first.after(length)
        for block in self.blocks:
            assert isinstance(block, InvertedBlock)
            length = block.each.after(length)
        return length


class InvertedBlock(nn.Module):
    def __init__(self, normed: Normed, given: int, width: int, expand: int, size: int, stride: int) -> None:
        super().__init__()
        inner = given * expand
        self.wider = normed(given, inner, 1) if expand > 1 else None
        self.each = normed(inner, inner, size, stride, groups=inner)
        self.narrower = normed(inner, width, 1)
        self.past = given == width and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        inner = x if self.wider is None else F.relu6(self.wider(x))
        found: Tensor = self.narrower(F.relu6(self.each(inner)))
        return x + found if self.past else found
