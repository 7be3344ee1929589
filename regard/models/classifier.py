"""Classifiers: a reader, one vector for what it read, and a score for each label."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import Rate
from regard.models.base import LabellerConfig, TextLabeller, TextModelConfig, TextReader, TextReaderConfig
from regard.models.recurrent_encoder import RecurrentEncoder
from regard.nn.call.masks import Mask
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear
from regard.nn.pooling import AttentionPooling, PoolConfig

WORDS = "pool.0.words"  # the weights of words, as watching names them


@dataclass(frozen=True, kw_only=True)
class Classifier(LabellerConfig, kind="classifier"):
    """Any reader; `pool` makes one vector of its states, `pooled_dropout` falls on that.

    With recurrent layers and attention as the pool: Yang et al. 2016 without sentences; Lin et al. 2017,
    arXiv:1703.03130, with one hop.
    """

    reader: TextReaderConfig = RecurrentEncoder(vocabulary=10_000)
    pool: PoolConfig = AttentionPooling()
    pooled_dropout: Rate = 0.0

    def assemble(self) -> ClassifierModel:
        return ClassifierModel(self)

    def text(self) -> TextModelConfig:
        return self.reader


class ClassifierModel(TextLabeller):
    """`forward` gives logits (B, labels)."""

    reader: TextReader

    def __init__(self, config: Classifier) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.pool = config.pool.build(self.reader.states_width)
        self.dropout = Dropout(config.pooled_dropout)
        self.output = Linear(self.reader.states_width, config.labels)

    def forward(self, tokens: Tensor, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """`segments` tell two texts apart, where the reader is an encoder that has them."""
        logits: Tensor = self.output(self.dropout(self.pooled(tokens, keep, segments)))
        return logits

    def pooled(self, tokens: Tensor, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """(B, D): the vector of each text, as the output layer takes it."""
        inputs = (tokens, keep) if segments is None else (tokens, keep, segments)
        memory = self.reader.encode(*inputs)
        context = self.whole(tokens, Mask(keys=keep)).enter(WORDS)
        vector: Tensor = self.pool(memory.states, memory.keep, context)
        return vector

    def attention_heads(self) -> dict[str, int]:
        return super().attention_heads() | ({WORDS: 1} if self.pool.attends else {})
