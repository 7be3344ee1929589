"""The Transformer that modifications are compared on, and those of its modifications that are built so far."""

from __future__ import annotations

from regard.models import EncoderDecoder
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.heads import LinearHead
from regard.nn.positions import Buckets
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Shared, Stack
from regard.zoo.base import Preset

PAPER = "Narang et al. 2021, arXiv:2102.11972"
TABLES = "one table for source and target and an output matrix of its own, as its published size says"


def narang(encoder: type[Stack] = Stack, decoder: type[Stack] = Stack, tied: bool = False) -> EncoderDecoder:
    """The size of T5 base: norms before the sublayers, T5's position buckets, no biases."""
    attention = MultiHead(heads=12, bias=False)
    block = Block(attention=attention, feedforward=MLP(hidden=3072, bias=False), residual=PreNorm())
    crossing = Block(attention, attention, block.feedforward, residual=PreNorm())
    return EncoderDecoder(
        vocabulary=32_128,
        width=768,
        embedding=TokenEmbedding(),
        encoder=encoder(layers=12, block=block, position=Buckets()),
        decoder=decoder(layers=12, block=crossing, position=Buckets()),
        head=LinearHead(tied=tied),
    )


PRESETS = (
    Preset("narang-2021", narang(tied=True), PAPER, 223_000_000, "the vanilla Transformer of its table"),
    Preset("narang-2021-shared", narang(Shared, Shared), PAPER, 65_000_000, f"block sharing; {TABLES}"),
    Preset("narang-2021-shared-encoder", narang(encoder=Shared), PAPER, 170_000_000, f"block sharing; {TABLES}"),
    Preset("narang-2021-shared-decoder", narang(decoder=Shared), PAPER, 144_000_000, f"block sharing; {TABLES}"),
)
