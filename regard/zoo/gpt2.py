"""GPT of 2018, GPT-2 in four sizes, Megatron-LM's larger models of the same make, and the smallest GPT-3."""

from __future__ import annotations

from dataclasses import replace

from regard.config import change
from regard.models import Decoder
from regard.nn.attention import Banded, MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.init import Normal
from regard.nn.positions import Learned
from regard.nn.residual import PostNorm, PreNorm
from regard.nn.stacks import Block, Pattern, Stack
from regard.zoo.base import Preset

GPT = "Radford et al. 2018, Improving Language Understanding by Generative Pre-Training"
GPT2 = "Radford et al. 2019, Language Models are Unsupervised Multitask Learners"
MEGATRON = "Shoeybi et al. 2019, arXiv:1909.08053"
COUNTED = "the paper's figure was a slip; its authors later gave the size that its table means"
GPT3 = "Brown et al. 2020, arXiv:2005.14165"
BAND = "every second layer attends to a band, as wide as that of GPT-Neo: the paper does not say how wide"
PADDED = "50,257 pieces padded to 51,200, so that eight processes can share them"


def gpt() -> Decoder:
    """The first Transformer's decoder alone: norms behind the sublayers and none at the end, GELU, learned positions,
    tied embeddings, a context of 512."""
    differing = {"residual": PostNorm(dropout=0.1), "by_depth": False, "length": 512}
    return change(gpt2(layers=12, width=768, heads=12, vocabulary=40_478), differing)


def gpt2(layers: int, width: int, heads: int, vocabulary: int = 50_257) -> Decoder:
    """Pre-norm, GELU, learned positions, tied embeddings, a context of 1,024."""
    return Decoder(
        vocabulary=vocabulary,
        width=width,
        init=Normal(std=0.02, by_depth=True),
        embedding=TokenEmbedding(dropout=0.1),
        decoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads, weight_dropout=0.1),
                feedforward=MLP(hidden=4 * width, activation="gelu-tanh"),
                residual=PreNorm(dropout=0.1),
            ),
            position=Learned(length=1024),
        ),
    )


def gpt3(layers: int, width: int, heads: int) -> Decoder:
    """GPT-2's blocks, in which attention to all and to a band take turns, and a context of 2,048."""
    like = gpt2(layers, width, heads)
    block = Block(MultiHead(heads=heads), feedforward=MLP(4 * width, "gelu-tanh"), residual=PreNorm())
    banded = replace(block, attention=Banded(heads=heads, reach=256))
    stack = Pattern(layers=layers, blocks=(block, banded), position=Learned(length=2048))
    return replace(like, embedding=TokenEmbedding(), decoder=stack)


PRESETS = (
    Preset("gpt", gpt(), GPT, 117_000_000, "the released vocabulary: 40,000 merges and 478 single signs"),
    Preset("gpt2", gpt2(12, 768, 12), GPT2, 117_000_000, COUNTED),
    Preset("gpt2-medium", gpt2(24, 1024, 16), GPT2, 345_000_000, COUNTED),
    Preset("gpt2-large", gpt2(36, 1280, 20), GPT2, 762_000_000, COUNTED),
    Preset("gpt2-xl", gpt2(48, 1600, 25), GPT2, 1_500_000_000, "the paper calls it 1542M, the decks 1.5B"),
    Preset("gpt3-small", gpt3(12, 768, 12), GPT3, 125_000_000, BAND),
    Preset("megatron-1.2b", gpt2(40, 1536, 16, 51_200), MEGATRON, 1_200_000_000, PADDED),
    Preset("megatron-2.5b", gpt2(54, 1920, 20, 51_200), MEGATRON, 2_500_000_000, PADDED),
    Preset("megatron-4.2b", gpt2(64, 2304, 24, 51_200), MEGATRON, 4_200_000_000, PADDED),
    Preset("megatron-8.3b", gpt2(72, 3072, 32, 51_200), MEGATRON, 8_300_000_000, PADDED),
)
