"""A text read by recurrent layers, in one direction or both: what classifiers and taggers were before Transformers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import Rate, Size
from regard.models.base import TextReader, TextReaderConfig
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.pooling import last_real
from regard.nn.positions.base import Position
from regard.nn.recurrent.layers import Cell, RecurrentLayers


@dataclass(frozen=True, kw_only=True)
class RecurrentEncoder(TextReaderConfig, kind="recurrent-encoder"):
    """Word vectors and recurrent layers; `hidden` is the width of the states in each direction.

    Graves and Schmidhuber 2005; Huang et al. 2015, arXiv:1508.01991.
    """

    cell: Cell = "lstm"
    hidden: Size = 256
    layers: Size = 1
    bidirectional: bool = True
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()

    def assemble(self) -> RecurrentEncoderModel:
        return RecurrentEncoderModel(self)


class RecurrentEncoderModel(TextReader):
    """`forward` gives the states (B, T, H · directions)."""

    def __init__(self, config: RecurrentEncoder) -> None:
        super().__init__(config)
        self.embedding = config.embedding.build(config.vocabulary, config.width, Position())
        self.encoder = RecurrentLayers(
            config.cell, config.width, config.hidden, config.layers, config.dropout, config.bidirectional
        )
        self.dropout = Dropout(config.dropout)
        self.states_width = config.hidden * self.encoder.directions

    def encode(self, tokens: Tensor, keep: Tensor | None = None) -> Memory:
        """With the last states of the top layer, one of each direction, as the summary."""
        self.check_tokens(tokens, keep)
        x = self.dropout(self.embedding(tokens, self.whole(tokens, Mask(keys=keep))))
        states = self.encoder.outputs(x, keep)
        hidden = self.encoder.hidden  # and behind it the way back, whose last state is a row's first
        summary = torch.cat([last_real(states, keep)[:, :hidden], states[:, 0, hidden:]], -1)
        return Memory(self.dropout(states), keep, summary)

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        return self.encode(tokens, keep).states
