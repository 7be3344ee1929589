"""XLNet."""

from __future__ import annotations

from regard.models import TwoStream
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.positions import TransformerXL
from regard.nn.residual import PostNorm
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

XLNET = "Yang et al. 2019, arXiv:1906.08237"
SIMILAR = "of BERT's size in the paper's words; a matrix for distances in each layer makes it larger"


def xlnet(layers: int, width: int, heads: int) -> TwoStream:
    """BERT's make with Transformer-XL's positions, relative segments, no biases in attention, and two streams."""
    return TwoStream(
        vocabulary=32_000,
        width=width,
        init=Normal(std=0.02),
        embedding=TokenEmbedding(dropout=0.1),
        encoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads, bias=False, weight_dropout=0.1),
                feedforward=MLP(hidden=4 * width, activation="gelu", hidden_dropout=0.1),
                norm=LayerNorm(eps=1e-12),
                residual=PostNorm(dropout=0.1),
            ),
            position=TransformerXL(segments=True, dropout=0.1),
        ),
        head=LinearHead(bias=True),
    )


PRESETS = (
    Preset(
        "xlnet-mini",
        xlnet(4, 256, 4),
        XLNET,
        note="XLNet made small, as BERT was; for a laptop give it pieces of your own texts",
    ),
    Preset("xlnet-base", xlnet(12, 768, 12), XLNET),
    Preset("xlnet-large", xlnet(24, 1024, 16), XLNET, 340_000_000, SIMILAR),
)
