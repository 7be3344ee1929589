"""Position schemes. A scheme overrides the methods it needs of `Position`; attention has no branch on the kind."""

from regard.nn.positions.absolute import Learned, Sinusoidal, sinusoids
from regard.nn.positions.base import HeadDims, NoPosition, Position, PositionConfig
from regard.nn.positions.distance import ALiBi, Buckets, Relative
from regard.nn.positions.grid import LearnedGrid, SinusoidalGrid
from regard.nn.positions.number import Fraction, Order
from regard.nn.positions.rotary import Rotary
from regard.nn.positions.transformer_xl import TransformerXL

__all__ = [
    "ALiBi",
    "Buckets",
    "Fraction",
    "HeadDims",
    "Learned",
    "LearnedGrid",
    "NoPosition",
    "Order",
    "Position",
    "PositionConfig",
    "Relative",
    "Rotary",
    "Sinusoidal",
    "SinusoidalGrid",
    "TransformerXL",
    "sinusoids",
]
