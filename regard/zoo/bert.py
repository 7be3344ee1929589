"""BERT and RoBERTa."""

from __future__ import annotations

from regard.config import change
from regard.models import Encoder
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.heads import TransformHead
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.pooling import FirstToken
from regard.nn.positions import Learned
from regard.nn.residual import PostNorm
from regard.nn.stacks import Block, Stack
from regard.zoo.base import Preset

BERT = "Devlin et al. 2019, arXiv:1810.04805"
ROBERTA = "Liu et al. 2019, arXiv:1907.11692"
TURC = "Turc et al. 2019, arXiv:1908.08962"
RELEASED = "the released uncased vocabulary, 30,522 pieces"


def bert(layers: int, width: int, heads: int) -> Encoder:
    """Post-norm, GELU, learned positions, two segments, [CLS] pooled, masked-word head tied to the embedding."""
    norm = LayerNorm(eps=1e-12)
    return Encoder(
        vocabulary=30_522,
        width=width,
        init=Normal(std=0.02, truncated=True),
        embedding=TokenEmbedding(segments=2, norm=norm, dropout=0.1),
        encoder=Stack(
            layers=layers,
            block=Block(
                attention=MultiHead(heads=heads, weight_dropout=0.1),
                feedforward=MLP(hidden=4 * width, activation="gelu"),
                norm=norm,
                residual=PostNorm(dropout=0.1),
            ),
            position=Learned(length=512),
        ),
        pool=FirstToken(),
        head=TransformHead(norm=norm),
    )


def roberta(layers: int, width: int, heads: int) -> Encoder:
    """BERT without segments and next-sentence task, with a byte-level vocabulary."""
    differing = {"vocabulary": 50_265, "segments": 0, "pool": None, "truncated": False, "eps": 1e-5}
    return change(bert(layers, width, heads), differing)


def modern(layers: int, width: int, heads: int) -> Encoder:
    """BERT with rotary positions and norms before the sublayers. Which words stand beside each other is in the scores
    from the start; a table of positions has to learn it first, which takes longer than a laptop trains."""
    differing = {"vocabulary": 8000, "position": "rotary", "residual": "pre-norm", "eps": 1e-5}
    return change(bert(layers, width, heads), {**differing, "dropout": 0.0, "weight_dropout": 0.0})


PRESETS = (
    Preset(
        "bert-modern",
        modern(2, 128, 2),
        "arXiv:1810.04805 with rotary positions, arXiv:2104.09864, and norms before the sublayers, arXiv:2002.04745",
        note="what `regard pretrain mlm` takes unless told: it learns within minutes on a few cores",
    ),
    Preset("bert-tiny", bert(2, 128, 2), TURC, 4_400_000, RELEASED),
    Preset("bert-mini", bert(4, 256, 4), TURC, 11_300_000, RELEASED),
    Preset("bert-small", bert(4, 512, 8), TURC, 29_100_000, RELEASED),
    Preset("bert-medium", bert(8, 512, 8), TURC, 41_700_000, RELEASED),
    Preset("bert-base", bert(12, 768, 12), BERT, 110_000_000, RELEASED),
    Preset("bert-large", bert(24, 1024, 16), BERT, 340_000_000, RELEASED),
    Preset(
        "roberta-mini",
        roberta(4, 256, 4),
        ROBERTA,
        note="RoBERTa made small, as BERT was; for a laptop give it pieces of your own texts",
    ),
    Preset("roberta-base", roberta(12, 768, 12), ROBERTA, 125_000_000),
    Preset("roberta-large", roberta(24, 1024, 16), ROBERTA, 355_000_000),
)
