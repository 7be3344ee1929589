"""Decoder-only: each token sees those before it, and the next one is predicted. GPT, Megatron-LM."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from regard.models.base import StackWriter, State, TextWriter, TextWriterConfig
from regard.nn.call.masks import Mask
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.stacks import Stack, StackConfig


@dataclass(frozen=True, kw_only=True)
class Decoder(TextWriterConfig, kind="decoder"):
    """Embedding, one causal stack, output head."""

    embedding: EmbeddingConfig = TokenEmbedding()
    decoder: StackConfig = Stack()
    head: HeadConfig = LinearHead()

    def assemble(self) -> DecoderModel:
        return DecoderModel(self)


class DecoderModel(StackWriter, TextWriter):
    """`forward` gives the logits of what follows each token; `step` goes on from a state."""

    def __init__(self, config: Decoder) -> None:
        super().__init__(config)
        decoder = config.decoder.build(config.width, causal=True)
        self.embedding = config.embedding.build(config.vocabulary, config.width, decoder.position)
        self.decoder = decoder
        self.head = config.head.build(config.vocabulary, config.width, self.embedding)

    def features(self, tokens: Tensor, keep: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        """Hidden states (B, T, D) of tokens (B, T), of which `keep` are real; `mask` narrows what a token sees."""
        self.check_tokens(tokens, keep)
        context = self.whole(tokens, replace(mask or Mask(), causal=True, keys=keep))
        x = self.embedding(tokens, context)
        hidden: Tensor
        hidden, _ = self.decoder(x, context.enter("decoder"))
        return hidden

    def forward(
        self,
        tokens: Tensor,
        keep: Tensor | None = None,
        mask: Mask | None = None,
        *,
        labels: Tensor | None = None,
        smoothing: float = 0.0,
    ) -> Tensor:
        return self.answer(self.features(tokens, keep, mask), labels, smoothing)

    def begin(self, mask: Mask | None = None) -> State:
        """The state before the first token."""
        return State(mask=replace(mask or Mask(), causal=True))
