"""Language models of every make: a small Transformer, recurrent ones, and the intra-attention reader."""

from __future__ import annotations

from regard.models import LSTMN, Decoder, RecurrentDecoder
from regard.nn.attention import MultiHead
from regard.nn.block import Block, Stack
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.positions import Learned
from regard.nn.residual import PreNorm
from regard.zoo.base import Preset


def writer(layers: int, width: int, heads: int, dropout: float, context: int) -> Decoder:
    """GPT-2's make, for small data: pre-norm, GELU, learned positions, tied embeddings; dropout outside of attention,
    whose fused kernel drops nothing on a CPU."""
    return Decoder(
        vocabulary=2_000,
        width=width,
        init=Normal(std=0.02, by_depth=True),
        embedding=TokenEmbedding(dropout=dropout),
        decoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads),
                feedforward=MLP(hidden=4 * width, activation="gelu-tanh"),
                residual=PreNorm(dropout=dropout),
            ),
            position=Learned(length=context),
        ),
    )


PRESETS = (
    Preset(
        "writer",
        writer(layers=4, width=192, heads=6, dropout=0.1, context=256),
        paper="Radford et al. 2019, Language Models are Unsupervised Multitask Learners, made small",
        note="what `regard train lm` takes unless told: GPT-2's make for minutes on a few cores",
    ),
    Preset(
        "lstm-writer",
        RecurrentDecoder(vocabulary=2_000, width=256, hidden=512, layers=1, dropout=0.2),
        paper="Zaremba et al. 2014, arXiv:1409.2329, made small",
    ),
    Preset(
        "lstmn-writer",
        LSTMN(vocabulary=2_000, width=256, hidden=256, dropout=0.2),
        paper="Cheng et al. 2016, arXiv:1601.06733, made small",
    ),
    Preset(
        "lstmn-2016",
        LSTMN(vocabulary=10_000, width=150, hidden=300, head=LinearHead(tied=False, bias=True)),
        paper="Cheng et al. 2016, arXiv:1601.06733",
        note="one layer, as for the Penn Treebank of 10,000 words: vectors of 150, states of 300",
    ),
)
