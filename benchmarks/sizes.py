"""The models that are compared, and what every side has alike. Only the standard library may be imported here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VOCABULARY = 10_000
SMOOTHING = 0.1
THREADS = 2


@dataclass(frozen=True)
class Size:
    """`parameters` is what the weights must come to, with one table for source, target and output."""

    layers: int
    width: int
    hidden: int
    heads: int
    parameters: int


def marian_shape(size: Size) -> dict[str, Any]:
    """Of a `MarianConfig`."""
    return {
        "vocab_size": VOCABULARY,
        "d_model": size.width,
        "encoder_layers": size.layers,
        "decoder_layers": size.layers,
        "encoder_attention_heads": size.heads,
        "decoder_attention_heads": size.heads,
        "encoder_ffn_dim": size.hidden,
        "decoder_ffn_dim": size.hidden,
        "activation_function": "relu",
        "scale_embedding": True,
    }


SIZES = {
    "tiny": Size(layers=4, width=128, hidden=256, heads=4, parameters=2_600_000),
    "base": Size(layers=6, width=512, hidden=2048, heads=8, parameters=49_000_000),
}
