"""Answering questions about pictures: a reader of each, a glance of the one at the other, a score for each answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.config import Rate
from regard.models.base import LabellerConfig, Model, PictureReaderConfig, TextModelConfig, TextReaderConfig
from regard.models.picture_encoder import PictureEncoder
from regard.models.recurrent_encoder import RecurrentEncoder
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.glances import GlanceConfig, Stacked
from regard.nn.linear import Linear
from regard.nn.pooling import Mean

GLANCE = "glance"  # the weights of its steps, as watching names them
QUESTION_TOKENS = 10  # where a cost is asked for without a question


@dataclass(frozen=True, kw_only=True)
class Asker(LabellerConfig, kind="asker"):
    """A `reader` of pictures, one of the `question`, and the `glance` of the question at the picture, on which
    `told_dropout` falls; answers are `labels`, of which one is right."""

    reader: PictureReaderConfig = PictureEncoder()
    question: TextReaderConfig = RecurrentEncoder(vocabulary=10_000)
    glance: GlanceConfig = Stacked()
    told_dropout: Rate = 0.0

    def assemble(self) -> AskerModel:
        return AskerModel(self)

    def text(self) -> TextModelConfig:
        return self.question


class AskerModel(Model):
    """`forward` gives logits (B, labels). Layers of the reader of questions are shown below "question"."""

    def __init__(self, config: Asker) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.question = config.question.assemble()
        self.question.shown_below = "question"
        self.mean = Mean().build(self.question.states_width)
        self.glance = config.glance.build(self.reader.states_width, self.question.states_width)
        self.dropout = Dropout(config.told_dropout)
        self.output = Linear(self.glance.width, config.labels)

    def forward(
        self, pictures: Tensor, tokens: Tensor, keep: Tensor | None = None, which: Tensor | None = None
    ) -> Tensor:
        """Pictures (B, 3, H, W) and a question (B, T) about each; or fewer pictures, where `which` (B,) tells about
        which one each question is, so that each is read once."""
        logits: Tensor = self.output(self.dropout(self.told(pictures, tokens, keep, which)))
        return logits

    def told(self, pictures: Tensor, tokens: Tensor, keep: Tensor | None = None, which: Tensor | None = None) -> Tensor:
        """(B, D): what the glance tells, as the output layer takes it."""
        cells = self.reader.encode(pictures).states
        question = self.asked(tokens, keep)
        if which is not None:
            cells = cells.index_select(0, which)
        if len(cells) != len(tokens):
            raise ValueError(f"{len(tokens)} questions are asked about {len(cells)} pictures, each about one")
        context = self.called(Context.whole(cells, Mask()))
        told: Tensor = self.glance(cells, question, context.enter(GLANCE))
        return told

    def asked(self, tokens: Tensor, keep: Tensor | None) -> Memory:
        """The question, with the mean of its states as the summary where its reader makes none."""
        read = self.question.encode(tokens, keep)
        return read if read.summary is not None else replace(read, summary=self.mean(read.states, read.keep))

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        """A question about each picture, however many cells that has."""
        return (*self.reader.example(batch, length), torch.zeros(batch, QUESTION_TOKENS, dtype=torch.long))
