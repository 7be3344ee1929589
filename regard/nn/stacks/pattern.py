"""A pattern of blocks: layers that differ in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.config import ConfigError, Part, Size
from regard.nn.positions import NoPosition, PositionConfig
from regard.nn.stacks.block import Block, BlockConfig
from regard.nn.stacks.stack import Stack, StackConfig, StackLayers, stacked


@dataclass(frozen=True)
class Pattern(StackConfig, kind="pattern"):
    """The `blocks` in turn, from the first on, until there are so many layers.

    Such as attention to all and to neighbours alone (arXiv:1904.10509), or experts in every second layer
    (arXiv:2101.03961).
    """

    layers: Size = 6
    blocks: tuple[BlockConfig, ...] = (Block(), Block())
    position: PositionConfig = NoPosition()
    final_norm: bool | None = None

    @classmethod
    def taken_from(cls, other: Part) -> dict[str, Any]:
        """In the place of a stack of one block, that block twice: then either may be changed."""
        blocks = {"blocks": (other.block,) * 2} if isinstance(other, Stack) else {}
        return {**super().taken_from(other), **blocks}

    def check(self) -> None:
        if not self.blocks or len(self.blocks) > self.layers:
            raise ConfigError(f"a pattern of {len(self.blocks)} blocks for {self.layers} layers")

    def distinct(self) -> tuple[BlockConfig, ...]:
        return tuple(self.blocks[layer % len(self.blocks)] for layer in range(self.layers))

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        return stacked(self.distinct(), self.position, self.final_norm, width, causal, memory_width)
