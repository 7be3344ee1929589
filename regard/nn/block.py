"""A block: a mixer and a feed-forward, each joined to the residual stream; and a stack of them."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

import regard.nn.mixers  # noqa: F401  (registers them)
from regard.config import Config, Size
from regard.nn.attention.layer import MixerConfig, MultiHead
from regard.nn.context import Context
from regard.nn.cost import Cost, Shape, total
from regard.nn.feedforward import MLP, FeedForwardConfig
from regard.nn.norms import LayerNorm, NormConfig
from regard.nn.positions import NoPosition, Position, PositionConfig
from regard.nn.residual import PostNorm, ResidualConfig


@dataclass(frozen=True)
class Block(Config):
    """What one layer is made of; `cross` is what attends to a memory, where there is one."""

    attention: MixerConfig = MultiHead()
    cross: MixerConfig | None = None
    feedforward: FeedForwardConfig = MLP()
    norm: NormConfig = LayerNorm()
    residual: ResidualConfig = PostNorm()


class BlockLayer(nn.Module):
    """Maps (x, context) to (x, context)."""

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

    def watched(self) -> list[str]:
        """The roles of its layers that have weights to show."""
        return [layer.role for layer in (self.attention, self.cross) if layer is not None and layer.watched]

    def cost(self, shape: Shape, memory: int) -> Cost:
        costs = [self.attention.cost(shape), self.attention_join.cost(shape)]
        if self.cross is not None and self.cross_join is not None:
            costs += [self.cross.cost(Shape(shape.batch, shape.length, memory)), self.cross_join.cost(shape)]
        return total([*costs, self.feedforward.cost(shape), self.feedforward_join.cost(shape)])


@dataclass(frozen=True)
class Stack(Config):
    """Blocks of one kind and their position scheme. A norm at the end where the wiring wants it, unless told."""

    layers: Size = 6
    block: Block = Block()
    position: PositionConfig = NoPosition()
    final_norm: bool | None = None

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        return StackLayers(self, width, causal, memory_width)


class StackLayers(nn.Module):
    """The blocks in order. It owns the position modules; layers and embedding use them."""

    def __init__(self, config: Stack, width: int, causal: bool, memory_width: int) -> None:
        super().__init__()
        self.memory_width = memory_width
        dims = config.block.attention.dims(width, causal)
        modules = [config.position.build(dims) for _ in range(1 if config.position.shared else config.layers)]
        positions = modules * config.layers if config.position.shared else modules
        self.positions = nn.ModuleList(modules)
        self.blocks = nn.ModuleList(
            BlockLayer(width, config.block, position, causal, memory_width) for position in positions
        )
        final = config.block.residual.final_norm if config.final_norm is None else config.final_norm
        self.norm = config.block.norm.build(width) if final else None

    @property
    def position(self) -> Position:
        """The one that the embedding asks."""
        position = self.positions[0]
        assert isinstance(position, Position)
        return position

    def forward(self, x: Tensor, context: Context) -> Tensor:
        context.note("input", x)
        for index, block in enumerate(self.blocks):
            inner = context.enter(str(index))
            x, _ = block(x, inner)
            inner.note("stream", x)
        return x if self.norm is None else self.norm(x)

    @property
    def branches(self) -> bool:
        """Whether hypotheses of a sentence may share a row of its cache."""
        return all(block.attention.branches for block in self._blocks)

    def attention_names(self, name: str) -> list[str]:
        return [f"{name}.{index}.{role}" for index, block in enumerate(self._blocks) for role in block.watched()]

    def heads(self, name: str) -> int:
        """Of the attention layer "decoder.3.cross" of the stack "decoder"."""
        _, index, role = name.split(".")
        layer = self._blocks[int(index)].cross if role == "cross" else self._blocks[int(index)].attention
        assert layer is not None
        return layer.dims.heads

    @property
    def _blocks(self) -> list[BlockLayer]:
        return [block for block in self.blocks if isinstance(block, BlockLayer)]

    def cache_values(self) -> tuple[int, int]:
        """Values that a cache holds for each token, and for each token of the memory."""
        own = sum(block.attention.cache_values() for block in self._blocks)
        return own, sum(block.cross.cache_values() for block in self._blocks if block.cross is not None)

    def cost(self, shape: Shape, memory: int = 0) -> Cost:
        norm = Cost() if self.norm is None else self.norm.cost(shape.tokens)
        states = Cost(kept=shape.batch * memory * self.memory_width)  # kept once for all blocks
        return total([block.cost(shape, memory) for block in self._blocks]) + norm + states
