"""The Transformer of Vaswani et al. 2017, and a small one for small data."""

from __future__ import annotations

from dataclasses import replace

from regard.models import EncoderDecoder
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.positions import Sinusoidal
from regard.nn.residual import PostNorm, PreNorm, ResidualConfig
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

PAPER = "Vaswani et al. 2017, arXiv:1706.03762"


def transformer(
    vocabulary: int,
    layers: int,
    width: int,
    hidden: int,
    heads: int,
    dropout: float,
    wiring: type[ResidualConfig] = PostNorm,
) -> EncoderDecoder:
    """Sinusoidal positions, one token table for source, target and output; dropout as in section 5.4."""
    attention = MultiHead(heads=heads)
    block = Block(attention=attention, feedforward=MLP(hidden=hidden), residual=wiring(dropout=dropout))
    return EncoderDecoder(
        vocabulary=vocabulary,
        width=width,
        embedding=TokenEmbedding(scaled=True, dropout=dropout),
        encoder=Stack(layers=layers, block=block, position=Sinusoidal()),
        decoder=Stack(layers=layers, block=replace(block, cross=attention), position=Sinusoidal()),
    )


PRESETS = (
    Preset(
        "transformer-tiny",
        transformer(vocabulary=10_000, layers=4, width=128, hidden=256, heads=4, dropout=0.3),
        paper="Wu et al. 2021, arXiv:2105.14462",
        note="for small data such as Multi30k; about 10,000 joint pieces",
    ),
    Preset(
        "translator",
        transformer(10_000, layers=4, width=128, hidden=256, heads=4, dropout=0.2, wiring=PreNorm),
        paper="arXiv:2105.14462 with norms before the sublayers, arXiv:2002.04745",
        note="what `regard train translate` takes unless told: transformer-tiny for minutes on a few cores",
    ),
    Preset(
        "transformer-base",
        transformer(vocabulary=37_000, layers=6, width=512, hidden=2048, heads=8, dropout=0.1),
        paper=PAPER,
        published=65_000_000,
        note="the paper says 37,000 pieces and 65M; with exactly 37,000 shared pieces it is 63.1M",
    ),
    Preset(
        "transformer-big",
        transformer(vocabulary=37_000, layers=6, width=1024, hidden=4096, heads=16, dropout=0.3),
        paper=PAPER,
        published=213_000_000,
    ),
)
