"""Language models of every make: Transformers of today and of 2019, recurrent ones, and the intra-attention reader."""

from __future__ import annotations

from regard.config import change
from regard.models import LSTMN, Decoder, RecurrentDecoder
from regard.nn.attention import MultiHead
from regard.nn.feedforward import MLP, Gated
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.norms import RMSNorm
from regard.nn.positions import Rotary
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset
from regard.zoo.gpt2 import gpt2


def writer(layers: int, width: int, heads: int, dropout: float, context: int) -> Decoder:
    """GPT-2's make, for small data; dropout outside of attention, whose fused kernel drops nothing on a CPU."""
    differing = {"dropout": dropout, "weight_dropout": 0.0, "length": context}
    return change(gpt2(layers, width, heads, vocabulary=2_000), differing)


def modern(layers: int, width: int, heads: int, kv_heads: int | None, vocabulary: int) -> Decoder:
    """What has proven itself since GPT-2: rotary positions, RMS norms, also of queries and keys, squared ReLU, no
    biases, and sublayers that start by adding nothing. Positions have no table, so no context is too long for it."""
    return Decoder(
        vocabulary=vocabulary,
        width=width,
        init=Normal(std=0.02, zero_outputs=True),
        decoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads, kv_heads=kv_heads, bias=False, key_norm=RMSNorm()),
                feedforward=MLP(hidden=4 * width, activation="relu2", bias=False),
                norm=RMSNorm(),
                residual=PreNorm(),
            ),
            position=Rotary(),
        ),
    )


def llama(
    layers: int, width: int, heads: int, kv_heads: int | None, hidden: int, vocabulary: int, tied: bool
) -> Decoder:
    """Rotary positions, RMS norms, SwiGLU, grouped heads, no biases."""
    return Decoder(
        vocabulary=vocabulary,
        width=width,
        init=Normal(std=0.02),
        decoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads, kv_heads=kv_heads, bias=False),
                feedforward=Gated(hidden=hidden, gate="swiglu"),
                norm=RMSNorm(eps=1e-5),
                residual=PreNorm(),
            ),
            position=Rotary(),
        ),
        head=LinearHead(tied=tied),
    )


OURS = "ours, of parts from arXiv:2104.09864, 1910.07467, 2010.04245, 2109.08668 and 2305.13245"
LLAMA = "Touvron et al. 2023, arXiv:2302.13971 and arXiv:2307.09288"

PRESETS = (
    Preset("gpt-modern", modern(12, 768, 12, 4, 50_257), OURS, note="our own default, in the size of GPT-2"),
    Preset(
        "gpt-tiny",
        modern(layers=4, width=192, heads=6, kv_heads=2, vocabulary=2_000),
        OURS,
        note="what `regard train lm` takes unless told: for minutes on a few cores",
    ),
    Preset(
        "gpt-char",
        change(
            modern(layers=4, width=128, heads=4, kv_heads=None, vocabulary=69),
            {
                "head.tied": False,
                "head.cap": 15.0,
                "init.table_std": 1.0,
                "decoder.block.feedforward.activation": "gelu",
            },
        ),
        OURS,
        note="for characters, in seconds: recipes/tinyshakespeare-char.yaml",
    ),
    Preset("llama-2-7b", llama(32, 4096, 32, None, 11_008, 32_000, tied=False), LLAMA, 6_700_000_000),
    Preset(
        "stories-15m",
        llama(6, 288, 6, None, 768, 32_000, tied=True),
        LLAMA,
        15_000_000,
        note="the make of llama2.c, for stories",
    ),
    Preset(
        "writer",
        writer(layers=4, width=192, heads=6, dropout=0.1, context=256),
        paper="Radford et al. 2019, Language Models are Unsupervised Multitask Learners, made small",
        note="GPT-2's make for minutes on a few cores",
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
