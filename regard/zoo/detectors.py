"""Detectors: pictures in, boxes with classes out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from regard.models import Detector, PictureEncoder
from regard.nn.attention import MultiHead
from regard.nn.backbones import ResidualNet
from regard.nn.feedforward import MLP
from regard.nn.matching import Focal
from regard.nn.positions import SinusoidalGrid
from regard.nn.queries import AnchorQueries, LearnedQueries
from regard.nn.residual import PostNorm, PreNorm, ResidualConfig
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

DETR = "Carion et al. 2020, arXiv:2005.12872"
DAB = "Liu et al. 2022, arXiv:2201.12329; Zhu et al. 2021, arXiv:2010.04159"
CLASSES_OF_COCO = 91  # with those that its numbers leave out


def stack(layers: int, heads: int, hidden: int, residual: ResidualConfig, cross: bool = False, **parts: Any) -> Stack:
    """Of an encoder, or of a decoder, which attends to the picture and always ends with a norm."""
    attention, across = MultiHead(heads=heads), MultiHead(heads=heads) if cross else None
    block = Block(attention=attention, cross=across, feedforward=MLP(hidden=hidden), residual=residual)
    return replace(Stack(layers=layers, block=block, final_norm=True if cross else None), **parts)


DETR_RESNET_50 = Detector(
    labels=CLASSES_OF_COCO,
    reader=PictureEncoder(
        side=800,
        width=256,
        pixels="imagenet",
        tokens=0,
        backbone=ResidualNet(blocks=(3, 4, 6, 3), bottleneck=True),
        dropout=0.1,
        encoder=stack(6, 8, 2048, PostNorm(dropout=0.1), position=SinusoidalGrid(join="qk", whole=True)),
    ),
    decoder=stack(6, 8, 2048, PostNorm(dropout=0.1), cross=True),
)
DETR_SMALL = Detector(
    reader=PictureEncoder(
        side=64,
        width=128,
        tokens=0,
        backbone=ResidualNet(blocks=(1, 1)),
        encoder=stack(2, 4, 512, PostNorm(), position=SinusoidalGrid(join="qk", whole=True)),
    ),
    queries=LearnedQueries(count=16),
    decoder=stack(3, 4, 512, PostNorm(), cross=True),
)
DETECTOR = Detector(
    reader=PictureEncoder(
        side=64,
        width=128,
        tokens=0,
        backbone=ResidualNet(blocks=(1, 1)),
        encoder=stack(2, 4, 512, PreNorm(), position=SinusoidalGrid(join="qk", whole=True, base=20.0)),
    ),
    queries=AnchorQueries(count=16),
    decoder=stack(3, 4, 512, PreNorm(), cross=True),
    matching=Focal(),
)

PRESETS = (
    Preset(
        "detr-resnet-50",
        DETR_RESNET_50,
        DETR,
        published=41_000_000,
        note="batch norms learn here; DETR keeps those that it begins from",
    ),
    Preset("detr-small", DETR_SMALL, DETR, note="DETR for small pictures"),
    Preset("detector", DETECTOR, DAB, note="boxes as queries and a focal loss: learns from few pictures"),
)
