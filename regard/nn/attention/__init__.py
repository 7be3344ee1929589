"""Attention: one file per family of kernels, and one module that projects, splits and caches."""

from regard.nn.attention.banded import Banded
from regard.nn.attention.dot import Dot, ScaledDot
from regard.nn.attention.kernel import Kernel, KernelConfig
from regard.nn.attention.layer import CrossAttention, Mixer, MixerConfig, MultiHead, SelfAttention
from regard.nn.attention.scores import Additive, Content, General, Location

__all__ = [
    "Additive",
    "Banded",
    "Content",
    "CrossAttention",
    "Dot",
    "General",
    "Kernel",
    "KernelConfig",
    "Location",
    "Mixer",
    "MixerConfig",
    "MultiHead",
    "ScaledDot",
    "SelfAttention",
]
