"""Mixers without attention: a convolution and a recurrence, in the place where a block has attention."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import ConfigError, Size
from regard.nn.attention.layer import Mixer, MixerConfig
from regard.nn.call.context import Context
from regard.nn.linear import Matrix
from regard.nn.positions.base import HeadDims, Position
from regard.nn.recurrent.layers import Cell, RecurrentLayers
from regard.nn.recurrent.temporal import latest


class Neighbours(Mixer):
    """What a mixer without weights to show has in common; each hypothesis of a beam needs a row of its own."""

    watched = False
    branches = False

    def __init__(self, dims: HeadDims) -> None:
        super().__init__()
        self.dims = dims


@dataclass(frozen=True)
class Convolution(MixerConfig, kind="convolution"):
    """Each token takes up `taps` neighbours, itself among them; a causal one looks back alone. arXiv:1705.03122"""

    taps: Size = 3

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        if not causal and self.taps % 2 == 0:
            raise ConfigError(
                f"{self.taps} taps have no middle: a convolution that looks both ways takes an odd number"
            )
        return ConvolutionLayer(self.dims(width, causal), self.taps)


class ConvolutionLayer(Neighbours):
    """Its matrix holds the taps side by side, each a piece of the inputs, so that a norm and an optimiser see one."""

    def __init__(self, dims: HeadDims, taps: int) -> None:
        super().__init__(dims)
        self.size = taps
        self.taps = Matrix(taps * dims.width, dims.width, residual=True)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        keep, reach = context.geometry.mask.keys, self.size - 1
        if keep is not None:
            x = x * keep[:, -x.shape[1] :].unsqueeze(-1)
        if not self.dims.causal:
            joined = F.pad(x, (0, 0, reach // 2, reach // 2))
        else:
            past = None if context.cache is None else context.cache.held(context.name)
            before = x.new_zeros(len(x), reach, x.shape[-1]) if past is None else past[0]
            joined = torch.cat([before, x], 1)
            if context.cache is not None and reach:
                context.cache.hold(context.name, latest(joined, reach, x.shape[1], keep))
        kernel = self.taps.weight.view(self.dims.width, self.size, -1).transpose(1, 2)  # (D, D, taps)
        return F.conv1d(joined.transpose(1, 2), kernel, self.taps.bias).transpose(1, 2)


@dataclass(frozen=True)
class Recurrence(MixerConfig, kind="recurrent"):
    """A recurrent layer whose states are as wide as the model, half of them each way where it looks both ways."""

    cell: Cell = "gru"

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        if not causal and width % 2:
            raise ConfigError(f"width {width} cannot be shared out between two directions")
        return RecurrenceLayer(self.dims(width, causal), self.cell)


class RecurrenceLayer(Neighbours):
    def __init__(self, dims: HeadDims, cell: Cell) -> None:
        super().__init__(dims)
        hidden = dims.width if dims.causal else dims.width // 2
        self.layers = RecurrentLayers(cell, dims.width, hidden, 1, 0.0, bidirectional=not dims.causal)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        keep = context.geometry.mask.keys
        before = None if context.cache is None else context.cache.held(context.name)
        out: Tensor
        out, states = self.layers(x, before, None if keep is None else keep[:, -x.shape[1] :])
        if context.cache is not None:
            context.cache.hold(context.name, *states)
        return out
