"""A stack: blocks one after the other, and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from regard.config import ConfigError, Part, Size
from regard.nn.attention.layer import Mixer
from regard.nn.call.context import Context
from regard.nn.cost import Shape
from regard.nn.norms import Norm
from regard.nn.positions import NoPosition, Position, PositionConfig
from regard.nn.stacks.block import Block, BlockConfig, BlockModule

SOME_TOKENS = 64  # of a sequence of which it is asked whether it becomes shorter


@dataclass(frozen=True)
class StackConfig(Part, family="stack"):
    """How blocks make a network. Where a config names no kind, as older runs do, it is the plain one."""

    kind: ClassVar[str] = "plain"
    keeps: ClassVar[bool] = True

    def distinct(self) -> tuple[BlockConfig, ...]:
        """Those that have weights of their own."""
        raise TypeError(f"{type(self).__name__} is a family, not a stack")

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        raise TypeError(f"{type(self).__name__} is a family, not a stack")

    @property
    def attends(self) -> bool:
        """Whether its blocks attend to a memory."""
        return any(block.attends for block in self.distinct())


@dataclass(frozen=True)
class Stack(StackConfig, kind="plain"):
    """Blocks of one kind and their position scheme. A norm at the end where the wiring wants it, unless told."""

    layers: Size = 6
    block: BlockConfig = Block()
    position: PositionConfig = NoPosition()
    final_norm: bool | None = None

    def distinct(self) -> tuple[BlockConfig, ...]:
        return (self.block,) * self.layers

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        return stacked(self.distinct(), self.position, self.final_norm, width, causal, memory_width)


def stacked(
    configs: Sequence[BlockConfig],
    position: PositionConfig,
    final_norm: bool | None,
    width: int,
    causal: bool,
    memory_width: int,
    order: Sequence[int] | None = None,
) -> StackLayers:
    """The blocks of these configs and their positions; `order` says which of them each layer is, None for each once."""
    dims = [config.dims(width, causal) for config in configs]
    positions = [position.build(one) for one in (dims[:1] if position.shared else dims)]
    if position.shared and not isinstance(position, NoPosition) and len({(d.heads, d.key_width) for d in dims}) > 1:
        raise ConfigError(
            f"positions of kind {position.kind!r} are one module for all blocks: give these as many heads, as wide"
        )
    places = positions * len(configs) if position.shared else positions
    blocks = [config.build(width, place, causal, memory_width) for config, place in zip(configs, places, strict=True)]
    last = configs[-1]
    norm = last.last_norm.build(width) if (last.wants_last_norm if final_norm is None else final_norm) else None
    stack = StackLayers(positions, blocks, norm, memory_width, order)
    if causal and stack.shortens:
        raise ConfigError("a decoder gives a state for every token: its blocks together keep the length of a sequence")
    return stack


class StackLayers(nn.Module):
    """Maps (x, context) to (x, context): the blocks in order, each as often as it stands there.

    It owns the position modules; layers and embedding use them.
    """

    def __init__(
        self,
        positions: Sequence[Position],
        blocks: Sequence[BlockModule],
        norm: Norm | None,
        memory_width: int = 0,
        order: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.memory_width = memory_width
        self.positions = nn.ModuleList(positions)
        self.blocks = nn.ModuleList(blocks)  # each once, so that every tensor has one name
        self.norm = norm
        self.order = None if order is None else tuple(order)
        for number, block in enumerate(blocks):
            block.applied = 1 if self.order is None else self.order.count(number)

    @property
    def layers(self) -> list[BlockModule]:
        """The block of each layer."""
        blocks = [block for block in self.blocks if isinstance(block, BlockModule)]
        return blocks if self.order is None else [blocks[number] for number in self.order]

    @property
    def position(self) -> Position:
        """The one that the embedding asks."""
        position = self.positions[0]
        assert isinstance(position, Position)
        return position

    def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
        context.note("input", x)
        for index, block in enumerate(self.layers):
            x, inner = block(x, context.enter(str(index)))
            inner.note("stream", x)
            if inner.geometry is not context.geometry:
                context = context.at(inner.geometry)
        return x if self.norm is None else self.norm(x), context

    def mixers(self) -> dict[str, Mixer]:
        """The layers of all blocks that let tokens exchange information, by their names in the stack: "3.cross"."""
        return {f"{index}.{mixer.role}": mixer for index, block in enumerate(self.layers) for mixer in block.mixers()}

    @property
    def branches(self) -> bool:
        """Whether hypotheses of a sentence may share a row of its cache."""
        return all(mixer.branches for mixer in self.mixers().values())

    def attention_heads(self, name: str) -> dict[str, int]:
        """How many heads the attention layers "decoder.3.cross" have, of the stack "decoder"."""
        return {f"{name}.{role}": mixer.dims.heads for role, mixer in self.mixers().items() if mixer.watched}

    def cache_values(self) -> tuple[int, int]:
        """Values that a cache holds for each token, and for each token of the memory."""
        mixers = self.mixers().values()
        own = sum(mixer.cache_values() for mixer in mixers if mixer.role != "cross")
        return own, sum(mixer.cache_values() for mixer in mixers if mixer.role == "cross")

    @property
    def shortens(self) -> bool:
        """Whether it returns another number of tokens than it is given."""
        return self.after(Shape(1, SOME_TOKENS, SOME_TOKENS)).length != SOME_TOKENS

    def after(self, shape: Shape) -> Shape:
        """The shape of what it returns."""
        for block in self.layers:
            shape = block.after(shape)
        return shape
