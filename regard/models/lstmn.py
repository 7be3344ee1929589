"""The intra-attention reader: an LSTM that looks back at all it has read, as a language model and as an encoder.

Cheng, Dong and Lapata 2016, "Long short-term memory-networks for machine reading", arXiv:1601.06733.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import Rate, Size
from regard.models.base import TextReader, TextReaderConfig
from regard.models.layered import LayeredConfig, LayeredWriter
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.pooling import last_real
from regard.nn.positions.base import Position
from regard.nn.recurrent.intra import IntraLayers
from regard.nn.recurrent.layers import lengths_of


@dataclass(frozen=True, kw_only=True)
class LSTMN(LayeredConfig, kind="lstmn"):
    """The language model: word vectors, intra-attention layers, output head; `hidden` is the width of the states."""

    hidden: Size = 512
    layers: Size = 1
    dropout: Rate = 0.0

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


class LSTMNModel(LayeredWriter):
    decoder: IntraLayers

    def __init__(self, config: LSTMN) -> None:
        layers = IntraLayers(config.width, config.hidden, config.layers, config.dropout)
        super().__init__(config, layers, config.hidden, config.dropout)

    def cache_values(self) -> tuple[int, int]:
        """Of each token its key, its hidden state and its memory."""
        return 3 * self.decoder.hidden * len(self.decoder.layers), 0


class LSTMNEncoderModel(TextReader):
    """`forward` gives the states (B, T, H)."""

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
        states = self.encoder(x, context.enter("encoder"))
        return Memory(self.dropout(states), keep, last_real(states, keep))

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        return self.encode(tokens, keep).states
