"""A reader that knows words and where they stand, and nothing of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Rate, Size
from regard.models.base import TextReader, TextReaderConfig
from regard.nn.call.masks import Mask, positions_of
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.initialised import Initialised
from regard.nn.positions.base import Position


@dataclass(frozen=True, kw_only=True)
class BagOfWords(TextReaderConfig, kind="bag-of-words"):
    """Word vectors, and as their summary a sum with a weight for each of `length` places and a bias. Xu and Saenko
    2016, arXiv:1511.05234."""

    length: Size = 32
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()

    def assemble(self) -> BagOfWordsModel:
        return BagOfWordsModel(self)


class BagOfWordsModel(TextReader):
    """`forward` gives the word vectors (B, T, D)."""

    def __init__(self, config: BagOfWords) -> None:
        super().__init__(config)
        self.embedding = config.embedding.build(config.vocabulary, config.width, Position())
        self.dropout = Dropout(config.dropout)
        self.places = WeightedPlaces(config.length, config.width)
        self.states_width = config.width

    def encode(self, tokens: Tensor, keep: Tensor | None = None) -> Memory:
        self.check_tokens(tokens, keep)
        words = self.dropout(self.embedding(tokens, self.whole(tokens, Mask(keys=keep))))
        return Memory(words, keep, self.places(words, keep))

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        return self.encode(tokens, keep).states


class WeightedPlaces(Initialised, nn.Module):
    """Vectors (B, T, D) → their sum (B, D), weighed by place, and a bias. Every place starts at weight one."""

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.longest = length
        self.weight = nn.Parameter(torch.empty(length))
        self.bias = nn.Parameter(torch.empty(width))
        self.reset_parameters()

    def start(self) -> None:
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        if keep is None:
            return self.weight[: x.shape[1]] @ x + self.bias
        weights = self.weight[positions_of(keep)] * keep
        return (weights.unsqueeze(1) @ x).squeeze(1) + self.bias
