"""Vision transformers, and convolutional networks that read pictures for other models."""

from __future__ import annotations

from regard.models import Classifier, PictureEncoder
from regard.nn.attention import MultiHead
from regard.nn.backbones import ConvolutionalTokens, InvertedResidualNet, Patches, ResidualNet
from regard.nn.feedforward import MLP
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.pooling import AttentionPooling
from regard.nn.positions import LearnedGrid
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

VIT = "Dosovitskiy et al. 2021, arXiv:2010.11929"
DEIT = "Touvron et al. 2021, arXiv:2012.12877"
CCT = "Hassani et al. 2021, arXiv:2104.05704"
RESNET = "He et al. 2016, arXiv:1512.03385"
EFFICIENTNET = "Tan and Le 2019, arXiv:1905.11946"
WITHOUT_HEAD = "without the layer that classifies, which a task adds"


def vit(layers: int, width: int, heads: int, patch: int, side: int = 224) -> PictureEncoder:
    """Patches, a class token, learned positions; norms before the sublayers, GELU."""
    cells = side // patch
    return PictureEncoder(
        side=side,
        width=width,
        init=Normal(std=0.02, truncated=True),
        backbone=Patches(size=patch),
        encoder=stack(layers, heads, 4 * width, LearnedGrid(rows=cells, columns=cells)),
    )


def stack(layers: int, heads: int, hidden: int, position: LearnedGrid, dropout: float = 0.0) -> Stack:
    attention = MultiHead(heads=heads, weight_dropout=dropout)
    feedforward = MLP(hidden=hidden, activation="gelu")
    residual = PreNorm(dropout=dropout)
    norm = LayerNorm(eps=1e-6)
    block = Block(attention=attention, feedforward=feedforward, norm=norm, residual=residual)
    return Stack(layers=layers, block=block, position=position)


def convolutional(layers: int, width: int, heads: int, ratio: int, convolutions: int, side: int) -> PictureEncoder:
    """Convolutions make the tokens, and no class token is needed: the states are pooled."""
    cells = side >> convolutions
    return PictureEncoder(
        side=side,
        width=width,
        init=Normal(std=0.02, truncated=True),
        backbone=ConvolutionalTokens(layers=convolutions),
        tokens=0,
        encoder=stack(layers, heads, ratio * width, LearnedGrid(cells, cells, leading=0), dropout=0.1),
    )


PRESETS = (
    Preset(
        "picture-classifier",
        Classifier(
            reader=convolutional(4, 128, 4, 2, 2, 32),
            pool=AttentionPooling(),
            init=Normal(std=0.02, truncated=True),
            pooled_dropout=0.1,
        ),
        CCT,
        note="small, for small pictures and little data; `--side` takes others",
    ),
    Preset("vit-tiny", vit(12, 192, 3, 16), DEIT, note=WITHOUT_HEAD),
    Preset("vit-small", vit(12, 384, 6, 16), DEIT, published=22_000_000, note=WITHOUT_HEAD),
    Preset("vit-base", vit(12, 768, 12, 16), VIT, published=86_000_000, note=WITHOUT_HEAD),
    Preset("vit-large", vit(24, 1024, 16, 16), VIT, published=307_000_000, note=WITHOUT_HEAD),
    Preset("vit-huge", vit(32, 1280, 16, 14), VIT, published=632_000_000, note=WITHOUT_HEAD),
    Preset("cct-7", convolutional(7, 256, 4, 2, 1, 32), CCT, published=3_760_000, note=WITHOUT_HEAD),
    Preset(
        "resnet-18",
        PictureEncoder(backbone=ResidualNet(), tokens=0, encoder=None),
        RESNET,
        note=WITHOUT_HEAD,
    ),
    Preset(
        "resnet-50",
        PictureEncoder(backbone=ResidualNet(blocks=(3, 4, 6, 3), bottleneck=True), tokens=0, encoder=None),
        RESNET,
        note=WITHOUT_HEAD,
    ),
    Preset(
        "efficientnet-lite0",
        PictureEncoder(backbone=InvertedResidualNet(), tokens=0, encoder=None),
        EFFICIENTNET,
        note="the classifier of its 4.65M has the other 1.28M",
    ),
)
