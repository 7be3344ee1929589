"""Readers of pictures: a backbone makes a grid of vectors, which a stack may read as a sequence. ViT and its kin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.config import ConfigError, Count, Rate
from regard.models.base import PictureReader, PictureReaderConfig
from regard.nn.backbones import BackboneConfig, Patches
from regard.nn.backbones.base import CHANNELS
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.initialised import Initialised
from regard.nn.linear import Linear
from regard.nn.positions import LearnedGrid
from regard.nn.positions.grid import GRID
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack, StackConfig


@dataclass(frozen=True, kw_only=True)
class PictureEncoder(PictureReaderConfig, kind="picture-encoder"):
    """A backbone, so many `tokens` of its own in front of the grid, such as ViT's class token, and a stack; without a
    stack, as for captions from convolutions, the states are the grid. Dosovitskiy et al. 2021, arXiv:2010.11929.
    """

    backbone: BackboneConfig = Patches()
    tokens: Count = 1
    dropout: Rate = 0.0
    encoder: StackConfig | None = Stack(layers=12, block=Block(residual=PreNorm()), position=LearnedGrid())

    def check(self) -> None:
        if self.tokens and self.encoder is None:
            raise ConfigError(f"{self.tokens} tokens in front of the grid say nothing without a stack that reads them")

    def assemble(self) -> PictureEncoderModel:
        return PictureEncoderModel(self)


class PictureEncoderModel(PictureReader):
    """`forward` and `encode` give states: of its own tokens first, then of the cells of the grid, row by row."""

    config: PictureEncoder

    def __init__(self, config: PictureEncoder) -> None:
        super().__init__(config)
        self.backbone = config.backbone.build(config.width)
        width = self.backbone.width if config.encoder is None else config.width
        fits = self.backbone.width == width
        self.project = None if fits else Linear(self.backbone.width, width)
        self.tokens = Tokens(config.tokens, width) if config.tokens else None
        self.dropout = Dropout(config.dropout)
        self.encoder = None if config.encoder is None else config.encoder.build(width, causal=False)
        self.states_width = width

    def encode(self, pictures: Tensor, keep: Tensor | None = None) -> Memory:
        """Pictures (B, 3, H, W) → states (B, N, D), of which all are real."""
        self.check_pictures(pictures)
        context, x = self.enter(pictures)
        if self.encoder is None:
            return Memory(x)
        states, left = self.encoder(x, context.enter("encoder"))
        return replace(Memory.at(states, left.geometry), places=self.encoder.position.beside(left))

    def enter(self, pictures: Tensor) -> tuple[Context, Tensor]:
        """The context of a pass, and the input (B, N, D) of the first block."""
        found: Tensor = self.backbone(pictures)
        rows, columns = found.shape[-2:]
        x = found.flatten(2).transpose(1, 2)  # (B, rows · columns, C)
        if self.project is not None:
            x = self.project(x)
        if self.tokens is not None:
            x = torch.cat([self.tokens(x.shape[0]), x], 1)
        context = self.called(Context(replace(Geometry.whole(x, Mask()), facts={GRID: (rows, columns)})))
        context.note("embedding", x)
        if self.encoder is not None:
            x = self.dropout(self.encoder.position(x, context))
        return context, x

    def forward(self, pictures: Tensor) -> Tensor:
        return self.encode(pictures).states

    def check_pictures(self, pictures: Tensor) -> None:
        if pictures.dim() != 4 or pictures.shape[1] != CHANNELS or not pictures.is_floating_point():
            shape = tuple(pictures.shape)
            raise ValueError(f"pictures have shape {shape} and {pictures.dtype}; they take (B, 3, H, W) real numbers")

    @property
    def states(self) -> int:
        return self.config.tokens + super().states

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        """Pictures of the size that its config names."""
        side = self.config.side
        return (torch.zeros(batch, CHANNELS, side, side),)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the cells that pictures of this size become."""
        return self.backbone.grid(height, width)


class Tokens(Initialised, nn.Module):
    """Vectors that a model reads in front of every input."""

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width))
        self.reset_parameters()

    def start(self) -> None:
        self.init.table(self.weight)

    def forward(self, batch: int) -> Tensor:
        return self.weight.expand(batch, -1, -1)
