"""The intra-attention reader: an LSTM that looks back at all it has read, as a language model and as an encoder.

Cheng, Dong and Lapata 2016, "Long short-term memory-networks for machine reading", arXiv:1601.06733.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import Rate, Size
from regard.models.base import (
    Model,
    State,
    TextReader,
    TextReaderConfig,
    TextWriter,
    TextWriterConfig,
    last_real,
)
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.cost import Cost, Shape
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.linear import Linear
from regard.nn.positions.base import Position
from regard.nn.recurrent.intra import IntraLayers
from regard.nn.recurrent.layers import lengths_of


@dataclass(frozen=True, kw_only=True)
class LSTMN(TextWriterConfig, kind="lstmn"):
    """The language model: word vectors, intra-attention layers, output head; `hidden` is the width of the states.

    States of another width than the word vectors are turned into theirs, so that the head may share the token table.
    """

    hidden: Size = 512
    layers: Size = 1
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig = LinearHead(bias=True)

    def assemble(self) -> LSTMNModel:
        return LSTMNModel(self)


@dataclass(frozen=True, kw_only=True)
class LSTMNEncoder(TextReaderConfig, kind="lstmn-encoder"):
    """The same reader for classifiers and taggers; the last state of a text is its summary."""

    hidden: Size = 256
    layers: Size = 1
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()

    def assemble(self) -> LSTMNEncoderModel:
        return LSTMNEncoderModel(self)


class LSTMNBase(Model):
    """What both have in common: layers that can be watched, at a `place` in the model."""

    place: str

    @property
    def layers(self) -> IntraLayers:
        layers: IntraLayers = getattr(self, self.place)
        return layers

    def attention_names(self) -> list[str]:
        return self.layers.names(self.place)

    def heads(self, name: str) -> int:
        return 1 if name in self.attention_names() else super().heads(name)


class LSTMNModel(LSTMNBase, TextWriter):
    place = "decoder"

    def __init__(self, config: LSTMN) -> None:
        super().__init__(config)
        width, hidden = config.width, config.hidden
        self.embedding = config.embedding.build(config.vocabulary, width, Position())
        self.decoder = IntraLayers(width, hidden, config.layers, config.dropout)
        self.out = None if hidden == width else Linear(hidden, width)
        self.head = config.head.build(config.vocabulary, width, self.embedding)
        self.dropout = Dropout(config.dropout)

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        if keep is not None:
            lengths_of(keep)  # or it is refused
        context = self.whole(tokens, Mask(causal=True))
        x = self.dropout(self.embedding(tokens, context))
        return self.turned(self.dropout(self.layers(x, context.enter(self.place))))

    def turned(self, states: Tensor) -> Tensor:
        """Into the width of the head."""
        return states if self.out is None else self.out(states)

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        if keep is not None:
            lengths_of(keep)
        context = self.called(state.advance(tokens, keep))
        states = self.layers(self.embedding(tokens, context), context.enter(self.place))
        return self.turned(last_real(states, keep))

    def cache_values(self) -> tuple[int, int]:
        """Of each token its key, its hidden state and its memory."""
        return 3 * self.layers.hidden * len(self.layers.layers), 0

    def cost(self, batch: int, length: int, source_length: int) -> Cost:
        shape = Shape(batch, length, length)
        turned = Cost() if self.out is None else self.out.cost(shape.tokens)
        costs = self.embedding.cost(shape) + self.layers.cost(shape) + turned
        return costs + self.head.cost(shape.tokens)


class LSTMNEncoderModel(LSTMNBase, TextReader):
    """`forward` gives the states (B, T, H)."""

    place = "encoder"

    def __init__(self, config: LSTMNEncoder) -> None:
        super().__init__(config)
        self.embedding = config.embedding.build(config.vocabulary, config.width, Position())
        self.encoder = IntraLayers(config.width, config.hidden, config.layers, config.dropout)
        self.dropout = Dropout(config.dropout)
        self.states_width = config.hidden

    def encode(self, tokens: Tensor, keep: Tensor | None = None) -> Memory:
        self.check_tokens(tokens, keep)
        if keep is not None:
            lengths_of(keep)
        context = self.whole(tokens, Mask(keys=keep))
        x = self.dropout(self.embedding(tokens, context))
        states = self.layers(x, context.enter(self.place))
        return Memory(self.dropout(states), keep, last_real(states, keep))

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        return self.encode(tokens, keep).states

    def cost(self, batch: int, length: int, source_length: int) -> Cost:
        shape = Shape(batch, length, length)
        return self.embedding.cost(shape) + self.layers.cost(shape)
