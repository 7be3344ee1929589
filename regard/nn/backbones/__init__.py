"""Backbones: how a picture becomes a grid of vectors. A new kind is a file that is named here."""

from regard.nn.backbones.attention import GridAttention
from regard.nn.backbones.base import Backbone, BackboneConfig, GridConvolution, NormedConvolution
from regard.nn.backbones.inverted import InvertedResidualNet, InvertedStage
from regard.nn.backbones.patches import ConvolutionalTokens, Patches
from regard.nn.backbones.pooled import PooledNet
from regard.nn.backbones.residual import ResidualNet

__all__ = [
    "Backbone",
    "BackboneConfig",
    "GridConvolution",
    "ConvolutionalTokens",
    "GridAttention",
    "InvertedResidualNet",
    "InvertedStage",
    "NormedConvolution",
    "Patches",
    "PooledNet",
    "ResidualNet",
]
