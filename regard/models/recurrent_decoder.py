"""A recurrent language model: what wrote texts before Transformers did, token by token from one state."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import Rate, Size
from regard.models.base import State, TextWriter, TextWriterConfig, last_real
from regard.nn.call.masks import Mask
from regard.nn.cost import Cost, Shape
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.linear import Linear
from regard.nn.positions.base import Position
from regard.nn.recurrent.layers import Cell, RecurrentLayers, lengths_of

STATE = "decoder.state"


@dataclass(frozen=True, kw_only=True)
class RecurrentDecoder(TextWriterConfig, kind="recurrent-decoder"):
    """Word vectors, recurrent layers, output head; `hidden` is the width of the states.

    Mikolov et al. 2010, "Recurrent neural network based language model"; with LSTM cells and dropout as in Zaremba et
    al. 2014, arXiv:1409.2329. States of another width than the word vectors are turned into theirs, so that the head
    may share the token table (arXiv:1611.01462).
    """

    cell: Cell = "lstm"
    hidden: Size = 512
    layers: Size = 1
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig = LinearHead(bias=True)

    def assemble(self) -> RecurrentDecoderModel:
        return RecurrentDecoderModel(self)


class RecurrentDecoderModel(TextWriter):
    """Rows may be padded at their end: what comes after a token never reaches it."""

    def __init__(self, config: RecurrentDecoder) -> None:
        super().__init__(config)
        width, hidden = config.width, config.hidden
        self.embedding = config.embedding.build(config.vocabulary, width, Position())
        self.decoder = RecurrentLayers(config.cell, width, hidden, config.layers, config.dropout)
        self.out = None if hidden == width else Linear(hidden, width)
        self.head = config.head.build(config.vocabulary, width, self.embedding)
        self.dropout = Dropout(config.dropout)

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        if keep is not None:
            lengths_of(keep)  # or it is refused
        x = self.dropout(self.embedding(tokens, self.whole(tokens, Mask(causal=True))))
        states, _ = self.decoder(x)
        return self.turned(self.dropout(states))

    def turned(self, states: Tensor) -> Tensor:
        """Into the width of the head."""
        return states if self.out is None else self.out(states)

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        x = self.embedding(tokens, self.called(state.advance(tokens, keep)))
        held = state.cache.held(STATE)
        if held is not None and keep is None and tokens.shape[1] == 1:
            last, states = self.decoder.step(x[:, 0], held)
        else:
            out, states = self.decoder(x, held, keep)
            last = last_real(out, keep)
        state.cache.hold(STATE, *states)
        return self.turned(last)

    def cost(self, batch: int, length: int, source_length: int) -> Cost:
        shape = Shape(batch, length, length)
        turned = Cost() if self.out is None else self.out.cost(shape.tokens)
        costs = self.embedding.cost(shape) + self.decoder.cost(shape.tokens) + turned
        return costs + self.head.cost(shape.tokens)
