"""A block: a mixer and a feed-forward, each joined to the residual stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

import regard.nn.mixers  # noqa: F401  (registers them)
from regard.config import Part
from regard.nn.attention.layer import Mixer, MixerConfig, MultiHead
from regard.nn.call.context import Context
from regard.nn.cost import Shape
from regard.nn.feedforward import MLP, FeedForwardConfig
from regard.nn.norms import LayerNorm, NormConfig
from regard.nn.positions import HeadDims, Position
from regard.nn.residual import PostNorm, ResidualConfig


@dataclass(frozen=True)
class BlockConfig(Part, family="block"):
    """One layer of a stack. Where a config names no kind, as older runs do, it is the plain one."""

    kind: ClassVar[str] = "plain"
    keeps: ClassVar[bool] = True

    @property
    def attends(self) -> bool:
        """Whether it attends to a memory."""
        return False

    @property
    def last_norm(self) -> NormConfig:
        """The norm that a stack of such blocks may end with."""
        return LayerNorm()

    @property
    def wants_last_norm(self) -> bool:
        return False

    def dims(self, width: int, causal: bool) -> HeadDims:
        """What its position scheme is built for."""
        return HeadDims(width, 1, 1, width, width, causal)

    def build(self, width: int, position: Position, causal: bool, memory_width: int) -> BlockModule:
        raise TypeError(f"{type(self).__name__} is a family, not a block")


class BlockModule(nn.Module):
    """Maps (x, context) to (x, context). The layers behind it obey both: where it returns fewer tokens, the geometry of
    the context that it returns is that of the shorter sequence."""

    applied = 1  # how many layers of the stack it is

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
        raise TypeError(f"{type(self).__name__} does not say what it does")

    def mixers(self) -> list[Mixer]:
        """Its layers that let tokens exchange information, in order."""
        return []

    def after(self, shape: Shape) -> Shape:
        """The shape of what it returns."""
        return shape


@dataclass(frozen=True)
class Block(BlockConfig, kind="plain"):
    """Attention and feed-forward; `cross` is what attends to a memory, where there is one."""

    attention: MixerConfig = MultiHead()
    cross: MixerConfig | None = None
    feedforward: FeedForwardConfig = MLP()
    norm: NormConfig = LayerNorm()
    residual: ResidualConfig = PostNorm()

    @property
    def attends(self) -> bool:
        return self.cross is not None

    @property
    def last_norm(self) -> NormConfig:
        return self.norm

    @property
    def wants_last_norm(self) -> bool:
        return self.residual.final_norm

    def dims(self, width: int, causal: bool) -> HeadDims:
        return self.attention.dims(width, causal)

    def build(self, width: int, position: Position, causal: bool, memory_width: int) -> BlockLayer:
        return BlockLayer(width, self, position, causal, memory_width)


class BlockLayer(BlockModule):
    def __init__(self, width: int, config: Block, position: Position, causal: bool, memory_width: int) -> None:
        super().__init__()
        self.attention = config.attention.build(width, position, causal)
        self.attention_join = config.residual.build(width, config.norm)
        self.cross = None if config.cross is None else config.cross.build_cross(width, memory_width)
        self.cross_join = None if config.cross is None else config.residual.build(width, config.norm)
        self.feedforward = config.feedforward.build(width)
        self.feedforward_join = config.residual.build(width, config.norm)

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
        x = self.attention_join(x, self.attention, context)
        if self.cross is not None and self.cross_join is not None:
            x = self.cross_join(x, self.cross, context)
        x = self.feedforward_join(x, self.fed, context)
        return x, context

    def fed(self, x: Tensor, context: Context) -> Tensor:
        """Through the feed-forward, seen by a watcher."""
        fed: Tensor = self.feedforward(x, context)
        context.note("feedforward", fed)
        return fed

    def mixers(self) -> list[Mixer]:
        return [layer for layer in (self.attention, self.cross) if layer is not None]
