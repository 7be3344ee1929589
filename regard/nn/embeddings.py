"""From token ids to the input of the first block."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from regard.config import ConfigError, Count, Part, Rate
from regard.errors import Error
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.linear import VectorTable
from regard.nn.norms import NormConfig
from regard.nn.positions.base import Position


@dataclass(frozen=True)
class EmbeddingConfig(Part, family="embedding"):
    """How tokens become vectors."""

    def build(self, vocabulary: int, width: int, position: Position) -> Embedding:
        raise TypeError(f"{type(self).__name__} is a family, not an embedding")


class Embedding(nn.Module):
    """Maps (B, T) token ids and a context to (B, T, D)."""

    tokens: VectorTable  # the table that an output head or another embedding may share


@dataclass(frozen=True)
class TokenEmbedding(EmbeddingConfig, kind="token"):
    """One vector per token, plus its position, plus its segment; then a norm and dropout, where they are given.

    `scaled` multiplies token vectors by sqrt(width), as Vaswani et al. 2017 do for a table shared with the output.
    `segments` is the number of sentence types that BERT tells apart (arXiv:1810.04805).
    """

    scaled: bool = False
    segments: Count = 0
    norm: NormConfig | None = None
    dropout: Rate = 0.0

    def build(self, vocabulary: int, width: int, position: Position) -> Embedding:
        return TokenEmbeddingLayer(vocabulary, width, position, self)


class TokenEmbeddingLayer(Embedding):
    def __init__(self, vocabulary: int, width: int, position: Position, config: TokenEmbedding) -> None:
        super().__init__()
        self.width = width
        self.scale = width**0.5 if config.scaled else 1.0
        self.position: Position
        object.__setattr__(self, "position", position)  # the stack owns it
        self.tokens = VectorTable(vocabulary, width - position.taken)
        self.segments = VectorTable(config.segments, width) if config.segments else None
        self.norm = None if config.norm is None else config.norm.build(width)
        self.dropout = Dropout(config.dropout)

    def forward(self, tokens: Tensor, context: Context, segments: Tensor | None = None) -> Tensor:
        x = self.tokens(tokens)
        if self.scale != 1.0:
            x = x * self.scale
        context.note("embedding", x)
        x = self.position(x, context)
        if self.segments is not None:
            x = x + segment_vectors(self.segments, tokens.new_zeros(()) if segments is None else segments)
        elif segments is not None:
            raise Error("segments were given, but this model's embedding has none")
        if self.norm is not None:
            x = self.norm(x)
        dropped: Tensor = self.dropout(x)
        return dropped


def segment_vectors(table: VectorTable, segments: Tensor) -> Tensor:
    """A row each; a tokenizer of another model may mark more segments than there are."""
    try:
        found: Tensor = table(segments)
    except IndexError:
        raise Error(
            f"segment {int(segments.max())} was given, but this model's embedding has {table.num_embeddings}: "
            "the tokenizer and the model do not belong together"
        ) from None
    return found


def check_tied(embedding: Embedding, width: int) -> VectorTable:
    """The token table, if an output head of this width can share it."""
    table = embedding.tokens
    if table.embedding_dim != width:
        raise ConfigError(
            f"a tied head needs token vectors of the model's width {width}, these have {table.embedding_dim}"
        )
    return table
