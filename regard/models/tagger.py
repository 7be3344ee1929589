"""A reader and a decision for every token: sequence labelling."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import Rate
from regard.models.base import LabellerConfig, TextModelConfig, TextReaderConfig, TokenLabeller, check_each_token
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear


@dataclass(frozen=True, kw_only=True)
class Tagger(LabellerConfig, kind="tagger"):
    """What a reader makes of each token, `states_dropout` on it, and a linear layer that scores the labels.

    With recurrent layers in both directions as the reader: Graves and Schmidhuber 2005, Huang et al. 2015,
    arXiv:1508.01991; with a biLM's layers: Peters et al. 2018, arXiv:1802.05365, section 5.3.
    """

    reader: TextReaderConfig
    states_dropout: Rate = 0.0

    def text(self) -> TextModelConfig:
        return self.reader.text()

    def assemble(self) -> TaggerModel:
        return TaggerModel(self)


class TaggerModel(TokenLabeller):
    """`forward` gives logits (B, T, labels)."""

    def __init__(self, config: Tagger) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        check_each_token(self.reader)
        self.dropout = Dropout(config.states_dropout)
        self.out = Linear(self.reader.states_width, config.labels)

    def forward(self, tokens: Tensor, keep: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """`segments` tell two texts apart, where the reader is an encoder that has them."""
        inputs = (tokens, keep) if segments is None else (tokens, keep, segments)
        logits: Tensor = self.out(self.dropout(self.reader.encode(*inputs).states))
        return logits
