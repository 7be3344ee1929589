"""The parts that models are built of: `from regard.nn import MultiHead, Rotary, Block, Stack`.

A part is a frozen config; `build` makes the module. Importing this package is quick: torch is imported with the first
part. One shape legend holds in the whole repository:

`B` batch, `T` length (queries), `S` source length (keys), `H` heads, `G` key-value heads, `D` width, `K` width of a
head, `V` vocabulary.
"""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = {
    "attention": (
        *("Additive", "Banded", "Content", "CrossAttention", "Dot", "General", "Kernel", "KernelConfig", "Location"),
        *("Mixer", "MixerConfig", "MultiHead", "ScaledDot", "SelfAttention"),
    ),
    "attention.hard": ("Hard", "Soft"),
    "attention.local": ("Monotonic", "Predictive"),
    "backbones": (
        *("Backbone", "BackboneConfig", "ConvolutionalTokens", "GridAttention", "InvertedResidualNet", "Patches"),
        *("PooledNet", "ResidualNet"),
    ),
    "call.cache": ("Cache",),
    "call.context": ("Context",),
    "call.geometry": ("Geometry",),
    "call.masks": ("Mask",),
    "call.memory": ("Memory",),
    "call.watch": ("silenced", "watch"),
    "cost": ("Cost", "Shape"),
    "dropout": ("Dropout",),
    "embeddings": ("Embedding", "EmbeddingConfig", "TokenEmbedding"),
    "feedforward": ("FeedForward", "FeedForwardConfig", "Gated", "MLP"),
    "glances": ("Differential", "Glance", "GlanceConfig", "Glimpses", "Stacked", "WordGuided"),
    "heads": ("Head", "HeadConfig", "LinearHead", "TransformHead"),
    "init": ("InitConfig", "Normal", "Xavier"),
    "linear": ("Linear", "VectorTable"),
    "matching": ("Focal", "MatchingConfig", "OneOfAll"),
    "mixers": ("Convolution", "Recurrence"),
    "norms": ("LayerNorm", "Norm", "NormConfig", "RMSNorm"),
    "pooling": ("AttentionPooling", "FirstToken", "Largest", "LastToken", "Mean", "Pool", "PoolConfig", "SideBySide"),
    "positions": (
        *("ALiBi", "Buckets", "Fraction", "HeadDims", "Learned", "LearnedGrid", "NoPosition", "Order", "Position"),
        *("PositionConfig", "Relative", "Rotary", "Sinusoidal", "SinusoidalGrid", "TransformerXL"),
    ),
    "queries": ("AnchorQueries", "LearnedQueries", "QueryConfig"),
    "recurrent.layers": ("RecurrentLayers",),
    "residual": ("LayerScale", "PostNorm", "PreNorm", "ResidualConfig", "Wiring"),
    "stacks": (*("Block", "BlockConfig", "BlockModule", "Pattern", "Shared", "Stack", "StackConfig", "StackLayers"),),
}
_HOMES = {name: f"{__name__}.{home}" for home, names in _PARTS.items() for name in names}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
