"""Stacks of blocks: what a block is made of, and how blocks make a network. A new kind is a file that is named here."""

from regard.nn.stacks.block import Block, BlockConfig, BlockLayer, BlockModule
from regard.nn.stacks.pattern import Pattern
from regard.nn.stacks.shared import Shared
from regard.nn.stacks.stack import Stack, StackConfig, StackLayers, stacked

__all__ = [
    "Block",
    "BlockConfig",
    "BlockLayer",
    "BlockModule",
    "Pattern",
    "Shared",
    "Stack",
    "StackConfig",
    "StackLayers",
    "stacked",
]
