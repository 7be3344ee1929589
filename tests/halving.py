"""A block that makes its sequence half as long."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.models import costs
from regard.nn.attention.layer import Mixer
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask
from regard.nn.cost import Cost, Shape
from regard.nn.positions import HeadDims, Position, Sinusoidal
from regard.nn.stacks import Block, BlockConfig, BlockModule, Pattern
from tests.helpers import small_block


@dataclass(frozen=True)
class Halving(BlockConfig):
    """A block, then the mean of every two tokens."""

    block: Block = small_block()

    def dims(self, width: int, causal: bool) -> HeadDims:
        return self.block.dims(width, causal)

    def build(self, width: int, position: Position, causal: bool, memory_width: int) -> BlockModule:
        return HalvingLayer(width, self.block.build(width, position, causal, memory_width))


class HalvingLayer(BlockModule):
    def __init__(self, width: int, inner: BlockModule) -> None:
        super().__init__()
        self.width, self.inner = width, inner

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
        x, context = self.inner(x, context)
        geometry = context.geometry
        places = torch.arange(-(-geometry.reach // 2), device=x.device)
        member = (geometry.query_positions.unsqueeze(-2) // 2 == places[:, None]).expand(len(x), -1, -1)
        if geometry.mask.keys is not None:
            member = member & geometry.mask.keys.unsqueeze(1)
        count = member.sum(-1)
        pooled = member.to(x.dtype) @ x / count.clamp(min=1).unsqueeze(-1)
        keep = None if geometry.mask.keys is None else count > 0
        return pooled, context.at(Geometry.whole(pooled, Mask(keys=keep)))

    def mixers(self) -> list[Mixer]:
        return self.inner.mixers()

    def after(self, shape: Shape) -> Shape:
        half = -(-shape.length // 2)
        return Shape(shape.batch, half, half)

    def cost(self, shape: Shape) -> Cost:
        pooled = self.after(shape).tokens * shape.length * self.width
        return costs.cost(self.inner, shape) + Cost(pooled, constant=pooled)


SHORTER = Pattern(3, (small_block(), Halving(), small_block()), Sinusoidal(), final_norm=True)
