"""Encoder-only: every token sees every other. BERT, RoBERTa."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.config import ConfigError
from regard.data.tokenizers import Tokenizer
from regard.errors import Error
from regard.models.base import Model, TextReader, TextReaderConfig
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.call.past import Past
from regard.nn.cost import Shape
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, TransformHead
from regard.nn.linear import Linear
from regard.nn.pooling import PoolConfig
from regard.nn.stacks import Stack, StackConfig


@dataclass(frozen=True, kw_only=True)
class Encoder(TextReaderConfig, kind="encoder"):
    """Embedding, one stack, and, where they are given, a pooled vector and an output head.

    `relation` adds what tells from the pooled vector whether the second text of a pair followed the first.
    """

    embedding: EmbeddingConfig = TokenEmbedding()
    encoder: StackConfig = Stack()
    pool: PoolConfig | None = None
    head: HeadConfig | None = TransformHead()
    relation: bool = False

    def check(self) -> None:
        if self.relation and self.pool is None:
            raise ConfigError(
                "the relation of two texts is told from a pooled vector: give the model one, such as pool='first'"
            )

    def inside(self) -> Encoder:
        return replace(self, pool=None, head=None, relation=False)

    def assemble(self) -> EncoderModel:
        return EncoderModel(self)


class EncoderModel(TextReader):
    """`forward` gives logits for every token, or the states where the model has no head."""

    def __init__(self, config: Encoder) -> None:
        super().__init__(config)
        self.states_width = config.width
        encoder = config.encoder.build(config.width, causal=False)
        self.embedding = config.embedding.build(config.vocabulary, config.width, encoder.position)
        self.encoder = encoder
        self.pool = None if config.pool is None else config.pool.build(config.width)
        self.relation = Linear(config.pool.after(config.width), 2) if config.pool and config.relation else None
        self.head = None if config.head is None else config.head.build(config.vocabulary, config.width, self.embedding)

    def encode(
        self,
        tokens: Tensor,
        keep: Tensor | None = None,
        segments: Tensor | None = None,
        mask: Mask | None = None,
        past: Past | None = None,
    ) -> Memory:
        """Tokens (B, T), of which `keep` are real, → states (B, T, D). They are read behind what a `past` remembers,
        which then moves on."""
        context, x = self.enter(tokens, keep, segments, mask, past)
        states, left = self.encoder(x, context.enter("encoder"))
        if past is not None:
            past.move_on(context.geometry)
        return Memory.at(states, left.geometry)

    def enter(
        self, tokens: Tensor, keep: Tensor | None, segments: Tensor | None, mask: Mask | None, past: Past | None
    ) -> tuple[Context, Tensor]:
        """The context of a pass, and the input (B, T, D) of the first block."""
        self.check_tokens(tokens, keep)
        context = self.whole(tokens, replace(mask or Mask(), keys=keep), past=past)
        if segments is None or not self.encoder.position.segmented:
            return context, self.embedding(tokens, context, segments)
        before = segments.new_zeros(len(segments), 0 if past is None else past.size)
        facts = {"segments": (segments, torch.cat([before, segments], 1))}
        context = context.at(replace(context.geometry, facts=facts))
        return context, self.embedding(tokens, context)

    def features(
        self, tokens: Tensor, keep: Tensor | None = None, segments: Tensor | None = None, mask: Mask | None = None
    ) -> Tensor:
        """Hidden states (B, T, D), as the head takes them."""
        return self.encode(tokens, keep, segments, mask).states

    def forward(
        self,
        tokens: Tensor,
        keep: Tensor | None = None,
        segments: Tensor | None = None,
        mask: Mask | None = None,
        *,
        labels: Tensor | None = None,
    ) -> Tensor:
        """The states; with a head its logits, or with `labels` (B, T) their mean cross-entropy."""
        hidden = self.features(tokens, keep, segments, mask)
        if self.head is None:
            return hidden
        found: Tensor = self.head(hidden) if labels is None else self.head.loss(hidden, labels)
        return found

    def expected(self, tokens: Tensor, keep: Tensor | None, hidden: Tensor, segments: Tensor | None = None) -> Tensor:
        """(N, D): states of which the head tells what stands at each of the `hidden` places (B, T), row by row."""
        return self.features(tokens, keep, segments)[hidden]

    def pooled(self, memory: Memory) -> Tensor:
        """(B, D): one vector per sequence."""
        if self.pool is None:
            raise Error("this model has no pooling; give its config one, such as pool='first'")
        vector: Tensor = self.pool(memory.states, memory.keep)
        return vector

    def follows(self, memory: Memory) -> Tensor:
        """(B, 2): logits of that the second text followed the first, and of that it did not. arXiv:1810.04805"""
        if self.relation is None:
            raise Error("this model does not judge whether texts follow one another (relation)")
        logits: Tensor = self.relation(self.pooled(memory))
        return logits

    @property
    def segmented(self) -> bool:
        """Whether it tells the texts of a pair apart by segments, as BERT and XLNet do and RoBERTa does not."""
        return getattr(self.embedding, "segments", None) is not None or self.encoder.position.segmented

    def after(self, shape: Shape) -> Shape:
        return self.encoder.after(shape)


def encoder_in(model: Model) -> EncoderModel | None:
    """The model itself, or the encoder that is its reader."""
    if isinstance(model, EncoderModel):
        return model
    return next((part for part in model.children() if isinstance(part, EncoderModel)), None)


def own_segments(model: Model, tokenizer: Tokenizer, tokens: Tensor) -> Tensor | None:
    """(B, T): the segments of single texts, as the encoder of a model reads them; None where all tokens are of one.

    A start that closes texts is a segment of its own, as XLNet has it.
    """
    encoder = encoder_in(model)
    if encoder is None or not encoder.segmented or not tokenizer.closes:
        return None
    return tokens.eq(tokenizer.start) * 2
