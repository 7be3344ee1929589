"""Encoder-decoder: a source is read whole, a target is written token by token. The Transformer."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import ConfigError
from regard.models.base import MemoryWriter, SourceWriter, SourceWriterConfig, StackWriter
from regard.nn.attention import MultiHead
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.stacks import Block, Stack, StackConfig


@dataclass(frozen=True, kw_only=True)
class EncoderDecoder(SourceWriterConfig, kind="encoder-decoder"):
    """Two stacks."""

    embedding: EmbeddingConfig = TokenEmbedding(scaled=True)
    encoder: StackConfig = Stack()
    decoder: StackConfig = Stack(block=Block(cross=MultiHead()))
    head: HeadConfig = LinearHead()

    def check(self) -> None:
        if not self.decoder.attends:
            raise ConfigError("decoder.block.cross is none: the decoder of an encoder-decoder attends to the source")
        if self.encoder.attends:
            raise ConfigError("encoder.block.cross is given, but an encoder has no memory to attend to")

    def assemble(self) -> EncoderDecoderModel:
        return EncoderDecoderModel(self)


class StackDecoder(StackWriter, MemoryWriter):
    """The half that writes: a causal stack whose blocks attend to the memory."""

    def decode(self, memory: Memory, target: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(target, keep)
        context = self.whole(target, Mask(causal=True, keys=keep), memory)
        x = self.embedding(target, context)
        hidden: Tensor
        hidden, _ = self.decoder(x, context.enter("decoder"))
        return hidden


class EncoderDecoderModel(StackDecoder, SourceWriter):
    """`forward` gives the logits of what follows each target token; `step` goes on from a state."""

    def __init__(self, config: EncoderDecoder) -> None:
        super().__init__(config)
        width, vocabulary = config.width, config.vocabulary
        encoder = config.encoder.build(width, causal=False)
        decoder = config.decoder.build(width, causal=True, memory_width=width)
        self.embedding = config.embedding.build(vocabulary, width, decoder.position)
        self.source_embedding = config.embedding.build(config.source_vocabulary or vocabulary, width, encoder.position)
        self.encoder, self.decoder = encoder, decoder
        if config.source_vocabulary is None:
            if encoder.position.taken != decoder.position.taken:
                raise ConfigError("encoder and decoder cannot share token vectors: their positions leave other widths")
            self.source_embedding.tokens = self.embedding.tokens
        self.head = config.head.build(vocabulary, width, self.embedding)

    def encode(self, source: Tensor, keep: Tensor | None = None) -> Memory:
        self.check_tokens(source, keep)
        context = self.whole(source, Mask(keys=keep))
        x = self.source_embedding(source, context)
        states, left = self.encoder(x, context.enter("encoder"))
        return Memory.at(states, left.geometry)
