"""Tokens straight from pixels: patches, or a few convolutions where there is little to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import ConfigError, Size
from regard.errors import Error
from regard.nn.backbones.base import CHANNELS, Backbone, BackboneConfig, GridConvolution


@dataclass(frozen=True)
class Patches(BackboneConfig, kind="patches"):
    """A vector for each square of `size` × `size` pixels. Dosovitskiy et al. 2021, arXiv:2010.11929."""

    size: Size = 16

    def build(self, width: int) -> Backbone:
        return PatchLayer(width, self.size)


class PatchLayer(Backbone):
    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.width, self.size = width, size
        self.project = GridConvolution(CHANNELS, width, size, stride=size)

    def forward(self, pictures: Tensor) -> Tensor:
        height, width = pictures.shape[-2:]
        if height % self.size or width % self.size:
            raise Error(f"a picture of {width} × {height} pixels does not come apart into squares of {self.size}")
        grid: Tensor = self.project(pictures)
        return grid

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return height // self.size, width // self.size


@dataclass(frozen=True)
class ConvolutionalTokens(BackboneConfig, kind="convolutional-tokens"):
    """Some `layers` of convolution, ReLU and the largest of 3 × 3 values, each of which halves the picture: neighbours
    belong together from the start, so that a small model learns from few pictures. Hassani et al. 2021,
    arXiv:2104.05704.

    `inner` is the width of all layers but the last.
    """

    layers: Size = 1
    size: Size = 3
    inner: Size = 64

    def check(self) -> None:
        if self.size % 2 == 0:
            raise ConfigError(f"a convolution over {self.size} × {self.size} pixels has no middle: choose an odd size")

    def build(self, width: int) -> Backbone:
        return ConvolutionalTokensLayer(width, self)


class ConvolutionalTokensLayer(Backbone):
    def __init__(self, width: int, config: ConvolutionalTokens) -> None:
        super().__init__()
        self.width = width
        widths = [CHANNELS, *[config.inner] * (config.layers - 1), width]
        self.layers = nn.ModuleList(
            GridConvolution(inputs, outputs, config.size, padding=config.size // 2, bias=False)
            for inputs, outputs in pairwise(widths)
        )

    def forward(self, pictures: Tensor) -> Tensor:
        x = pictures
        for layer in self.layers:
            x = F.max_pool2d(F.relu(layer(x)), 3, stride=2, padding=1)
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        for _ in self.layers:
            height, width = (height + 1) // 2, (width + 1) // 2
        return height, width
