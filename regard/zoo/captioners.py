"""What writes captions of pictures: from one vector, from attention, and a small Transformer."""

from __future__ import annotations

from dataclasses import replace

from regard.models import PictureEncoder, RecurrentCaptioner, TransformerCaptioner
from regard.models.caption_readers import Vinyals, Xu
from regard.models.recurrent import ReaderConfig
from regard.nn.attention import Additive, MultiHead
from regard.nn.attention.hard import Hard
from regard.nn.backbones import ConvolutionalTokens, ResidualNet
from regard.nn.feedforward import MLP
from regard.nn.positions import LearnedGrid, Sinusoidal
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

VINYALS = "Vinyals et al. 2015, arXiv:1411.4555"
XU = "Xu et al. 2015, arXiv:1502.03044"
VASWANI = "Vaswani et al. 2017, arXiv:1706.03762, on the convolutions of Hassani et al. 2021, arXiv:2104.05704"
GRID = "a residual net of 18 layers stands in for VGG: as there, 14 × 14 vectors of 512"


def recurrent(reader: ReaderConfig, side: int, hidden: int, dropout: float) -> RecurrentCaptioner:
    """An LSTM of words of 512, over the grid of a residual net."""
    return RecurrentCaptioner(
        vocabulary=10_000,
        width=512,
        cell="lstm",
        hidden=hidden,
        dropout=dropout,
        reader=reader,
        encoder=PictureEncoder(side=side, backbone=ResidualNet(), tokens=0, encoder=None),
    )


def small(side: int, width: int, heads: int) -> TransformerCaptioner:
    """Three convolutions, a layer that reads their grid and two that write."""
    cells = side // 8
    block = Block(MultiHead(heads=heads), None, MLP(hidden=2 * width, activation="gelu"), residual=PreNorm())
    reading = Stack(1, block, LearnedGrid(cells, cells, leading=0))
    return TransformerCaptioner(
        vocabulary=1_000,
        width=width,
        encoder=PictureEncoder(
            side=side, width=width, backbone=ConvolutionalTokens(layers=3, inner=32), tokens=0, encoder=reading
        ),
        decoder=Stack(2, replace(block, cross=MultiHead(heads=heads)), Sinusoidal()),
    )


PRESETS = (
    Preset(
        "vinyals-2015",
        recurrent(Vinyals(), 224, 512, 0.3),
        VINYALS,
        note="a residual net of 18 layers stands in for GoogLeNet",
    ),
    Preset("xu-2015-soft", recurrent(Xu(Additive(hidden=512)), 448, 1000, 0.5), XU, note=GRID),
    Preset("xu-2015-hard", recurrent(Xu(Additive(hidden=512), Hard(reward="row")), 448, 1000, 0.5), XU, note=GRID),
    Preset("captioner", small(64, 128, 4), VASWANI, note="for `scenes` and other small pictures"),
)
