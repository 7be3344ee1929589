"""SNAIL, a simple neural attentive learner, as a language model. Mishra et al. 2018, arXiv:1707.03141."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.models.base import State, TextWriter, TextWriterConfig, last_real
from regard.nn.call.masks import Mask
from regard.nn.cost import Cost, Shape
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.linear import Linear
from regard.nn.positions.base import Position
from regard.nn.recurrent.temporal import TemporalLayers

PLACE = "decoder"


@dataclass(frozen=True, kw_only=True)
class Snail(TextWriterConfig, kind="snail"):
    """Word vectors, temporal convolutions and causal attention, output head. It needs no positions: the convolutions
    know the order."""

    layers: TemporalLayers = TemporalLayers()
    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig = LinearHead(bias=True)

    def assemble(self) -> SnailModel:
        return SnailModel(self)


class SnailModel(TextWriter):
    """Rows may be padded at their end: what comes after a token never reaches it."""

    def __init__(self, config: Snail) -> None:
        super().__init__(config)
        self.embedding = config.embedding.build(config.vocabulary, config.width, Position())
        self.decoder = config.layers.build(config.width)
        self.out = Linear(self.decoder.out_width, config.width)
        self.head = config.head.build(config.vocabulary, config.width, self.embedding)

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        check_padding(keep)
        context = self.whole(tokens, Mask(causal=True, keys=keep))
        hidden: Tensor = self.out(self.decoder(self.embedding(tokens, context), context.enter(PLACE)))
        return hidden

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        check_padding(keep)
        context = self.called(state.advance(tokens, keep))
        hidden = self.decoder(self.embedding(tokens, context), context.enter(PLACE))
        last: Tensor = self.out(last_real(hidden, keep))
        return last

    def attention_names(self) -> list[str]:
        return self.decoder.attention_names(PLACE)

    def heads(self, name: str) -> int:
        return 1 if name in self.attention_names() else super().heads(name)

    def cache_values(self) -> tuple[int, int]:
        return self.decoder.cache_values(), 0

    def cost(self, batch: int, length: int, source_length: int) -> Cost:
        shape = Shape(batch, length, length)
        costs = self.embedding.cost(shape) + self.decoder.cost(shape) + self.out.cost(shape.tokens)
        return costs + self.head.cost(shape.tokens)


def check_padding(keep: Tensor | None) -> None:
    """Convolutions count steps, so that padding may only stand where nothing comes after it."""
    if keep is not None and bool((keep[:, 1:] & ~keep[:, :-1]).any()):
        raise ValueError("temporal convolutions take rows whose padding comes last")
