"""Classifiers: a reader, one vector for what it read, and a score for each label."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import Rate
from regard.models.base import InputReader, InputReaderConfig, LabellerConfig, TextLabeller, TextModelConfig
from regard.models.recurrent_encoder import RecurrentEncoder
from regard.nn.call.masks import Mask
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear
from regard.nn.pooling import AttentionPooling, PoolConfig

WORDS = "pool.0.words"  # the weights of words, as watching names them


@dataclass(frozen=True, kw_only=True)
class Classifier(LabellerConfig, kind="classifier"):
    """Any reader of texts or pictures; `pool` makes one vector of its states, `pooled_dropout` falls on that.

    With recurrent layers and attention as the pool: Yang et al. 2016 without sentences; Lin et al. 2017,
    arXiv:1703.03130, with one hop.
    """

    reader: InputReaderConfig = RecurrentEncoder(vocabulary=10_000)
    pool: PoolConfig = AttentionPooling()
    pooled_dropout: Rate = 0.0

    def assemble(self) -> ClassifierModel:
        return ClassifierModel(self)

    def text(self) -> TextModelConfig | None:
        return self.reader.text()


class ClassifierModel(TextLabeller):
    """`forward` gives logits (B, labels)."""

    reader: InputReader

    def __init__(self, config: Classifier) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.pool = config.pool.build(self.reader.states_width)
        self.dropout = Dropout(config.pooled_dropout)
        self.output = Linear(config.pool.after(self.reader.states_width), config.labels)

    def forward(self, given: Tensor, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """Of pictures, or of tokens; `segments` tell two texts apart, where the reader is an encoder that has them."""
        logits: Tensor = self.output(self.dropout(self.pooled(given, keep, segments)))
        return logits

    def pooled(self, given: Tensor, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """(B, D): the vector of each text or picture, as the output layer takes it."""
        inputs = (given, keep) if segments is None else (given, keep, segments)
        memory = self.reader.encode(*inputs)
        context = self.whole(memory.states, Mask(keys=memory.keep)).enter(WORDS)
        vector: Tensor = self.pool(memory.states, memory.keep, context)
        return vector

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        return self.reader.example(batch, length)

    def attention_heads(self) -> dict[str, int]:
        return super().attention_heads() | ({WORDS: 1} if self.pool.attends else {})
