"""Models that answer questions about pictures."""

from __future__ import annotations

from regard.models import Asker, BagOfWords, PictureEncoder, RecurrentEncoder
from regard.nn.backbones import ConvolutionalTokens, ResidualNet
from regard.nn.glances import Glimpses, Stacked, WordGuided
from regard.nn.positions import LearnedGrid
from regard.zoo.base import Preset
from regard.zoo.pictures import stack

SAN = "Yang et al. 2016, arXiv:1511.02274"
GLIMPSES = "Kazemi and Elqursh 2017, arXiv:1704.03162"
GUIDED = "Xu and Saenko 2016, arXiv:1511.05234"
INSTEAD = "ResNet-18 reads pictures instead of the paper's {}; 1,000 answers"


def residual(blocks: tuple[int, ...], bottleneck: bool = False) -> PictureEncoder:
    """At 448 pixels, whose grid has 14 × 14 cells."""
    return PictureEncoder(
        side=448,
        pixels="imagenet",
        backbone=ResidualNet(blocks=blocks, bottleneck=bottleneck),
        tokens=0,
        encoder=None,
    )


PRESETS = (
    Preset(
        "asker",
        Asker(
            reader=PictureEncoder(
                side=64,
                width=128,
                backbone=ConvolutionalTokens(layers=3, inner=32),
                tokens=0,
                encoder=stack(2, 4, 256, LearnedGrid(8, 8, leading=0), dropout=0.1),
            ),
            question=RecurrentEncoder(vocabulary=200, width=64, cell="gru", hidden=64),
            glance=Glimpses(),
            told_dropout=0.1,
            labels=20,
        ),
        GLIMPSES,
        note="small, for small pictures: a Transformer on convolutions looks at them; `--side` takes others",
    ),
    Preset(
        "san-2016",
        Asker(
            reader=residual((2, 2, 2, 2)),
            question=RecurrentEncoder(vocabulary=10_000, width=500, hidden=1024, bidirectional=False),
            glance=Stacked(hidden=512, dropout=0.5),
            labels=1000,
        ),
        SAN,
        note=INSTEAD.format("VGG-19"),
    ),
    Preset(
        "kazemi-2017",
        Asker(
            reader=residual((3, 8, 36, 3), bottleneck=True),
            question=RecurrentEncoder(vocabulary=10_000, width=300, hidden=1024, bidirectional=False),
            glance=Glimpses(dropout=0.5),
            told_dropout=0.5,
            labels=3000,
        ),
        GLIMPSES,
        note="ResNet-152 reads pictures, as in the paper; 3,000 answers",
    ),
    Preset(
        "xu-2016-ask",
        Asker(
            reader=residual((2, 2, 2, 2)),
            question=BagOfWords(vocabulary=10_000, width=512),
            glance=WordGuided(),
            labels=1000,
        ),
        GUIDED,
        note=INSTEAD.format("GoogLeNet"),
    ),
)
