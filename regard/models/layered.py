"""Language models whose layers read from left to right, between word vectors and output head."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.models.base import State, TextWriter, TextWriterConfig
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.linear import Linear
from regard.nn.pooling import last_real
from regard.nn.positions.base import Position
from regard.nn.recurrent.layers import lengths_of


@dataclass(frozen=True, kw_only=True)
class LayeredConfig(TextWriterConfig):
    """Of a `LayeredWriter`."""

    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig = LinearHead(bias=True)


class LayeredWriter(TextWriter):
    """Rows may be padded at their end: what comes after a token never reaches it.

    States of another width than the word vectors are turned into theirs, so that the head may share the token table
    (arXiv:1611.01462).
    """

    def __init__(self, config: LayeredConfig, decoder: nn.Module, states_width: int, dropout: float = 0.0) -> None:
        super().__init__(config)
        width, vocabulary = config.width, config.vocabulary
        self.embedding = config.embedding.build(vocabulary, width, Position())
        self.decoder = decoder
        self.out = None if states_width == width else Linear(states_width, width)
        self.head = config.head.build(vocabulary, width, self.embedding)
        self.dropout = Dropout(dropout)

    def states(self, x: Tensor, context: Context) -> Tensor:
        """What the layers make of word vectors (B, T, D)."""
        found: Tensor = self.decoder(x, context.enter("decoder"))
        return found

    def turned(self, states: Tensor) -> Tensor:
        """Into the width of the head."""
        return states if self.out is None else self.out(states)

    def check_padding(self, keep: Tensor) -> None:
        """Refuse rows whose padding does not come last."""
        lengths_of(keep)

    def check_tokens(self, tokens: Tensor, keep: Tensor | None) -> None:
        super().check_tokens(tokens, keep)
        if keep is not None:
            self.check_padding(keep)

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        context = self.whole(tokens, Mask(causal=True, keys=keep))
        x = self.dropout(self.embedding(tokens, context))
        return self.turned(self.dropout(self.states(x, context)))

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        context = self.called(state.advance(tokens, keep))
        return self.turned(last_real(self.states(self.embedding(tokens, context), context), keep))
