"""Block sharing: one block for several layers."""

from __future__ import annotations

from dataclasses import dataclass

from regard.config import ConfigError, Size
from regard.nn.stacks.block import BlockConfig
from regard.nn.stacks.stack import Stack, StackLayers, stacked


@dataclass(frozen=True)
class Shared(Stack, kind="shared"):
    """Layers that share their weights: `groups` blocks, each for as many layers in a row. ALBERT, arXiv:1909.11942

    One group is one block for all layers. A block that several layers share has one position module.
    """

    groups: Size = 1

    def check(self) -> None:
        if self.layers % self.groups:
            raise ConfigError(f"{self.layers} layers cannot be shared out among {self.groups} groups")

    def distinct(self) -> tuple[BlockConfig, ...]:
        return (self.block,) * self.groups

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        order = [layer * self.groups // self.layers for layer in range(self.layers)]
        return stacked(self.distinct(), self.position, self.final_norm, width, causal, memory_width, order)
