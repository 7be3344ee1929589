"""Captioners: a picture is read whole, a text about it is written token by token."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.config import ConfigError
from regard.models.base import MemoryWriter, PictureReader, PictureReaderConfig, WriterConfig
from regard.models.caption_readers import Xu
from regard.models.encoder_decoder import StackDecoder
from regard.models.picture_encoder import PictureEncoder
from regard.models.recurrent import ReaderConfig, RecurrentWriter, RecurrentWriterConfig, Sizes
from regard.nn.attention import MultiHead
from regard.nn.backbones import ConvolutionalTokens
from regard.nn.call.memory import Memory
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.positions import Sinusoidal
from regard.nn.positions.base import Position
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack, StackConfig


@dataclass(frozen=True, kw_only=True)
class PictureWriterConfig(WriterConfig):
    """Of a model that writes about a picture, which `encoder` reads."""

    encoder: PictureReaderConfig = PictureEncoder(backbone=ConvolutionalTokens(layers=4), tokens=0, encoder=None)


class PictureWriter(MemoryWriter):
    """A model that reads a picture whole, then writes about it. `remember` makes a memory of states that are known."""

    config: PictureWriterConfig
    encoder: PictureReader

    def encode(self, pictures: Tensor) -> Memory:
        """Pictures (B, 3, H, W) → the memory that the decoder reads from."""
        return self.remember(self.encoder.encode(pictures).states)

    def remember(self, states: Tensor) -> Memory:
        """States (B, N, D) of the cells of pictures, and their mean for whoever begins from a single vector."""
        return Memory(states, summary=states.mean(1))

    def features(self, pictures: Tensor, target: Tensor, keep: Tensor | None = None) -> Tensor:
        """Hidden states (B, T, D) of target tokens (B, T), as the head takes them."""
        return self.decode(self.encode(pictures), target, keep)

    def forward(
        self,
        pictures: Tensor,
        target: Tensor,
        keep: Tensor | None = None,
        *,
        labels: Tensor | None = None,
        smoothing: float = 0.0,
    ) -> Tensor:
        """The logits of what follows each target token, or with `labels` (B, T) their mean cross-entropy."""
        return self.answer(self.features(pictures, target, keep), labels, smoothing)

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        return (*self.encoder.example(batch, length), *super().example(batch, length))


@dataclass(frozen=True, kw_only=True)
class RecurrentCaptioner(RecurrentWriterConfig, PictureWriterConfig, kind="recurrent-captioner"):
    """A recurrent decoder, which begins from the mean of a picture's states."""

    reader: ReaderConfig = Xu()

    def assemble(self) -> RecurrentCaptionerModel:
        return RecurrentCaptionerModel(self)


class RecurrentCaptionerModel(RecurrentWriter, PictureWriter):
    config: RecurrentCaptioner

    def __init__(self, config: RecurrentCaptioner) -> None:
        super().__init__(config)
        self.embedding = config.embedding.build(config.vocabulary, config.width, Position())
        self.encoder = config.encoder.assemble()
        width = self.encoder.states_width
        self.reader = config.reader.build(Sizes(config.width, config.hidden, width))
        self.add_decoder(width, width)

    def remember(self, states: Tensor) -> Memory:
        found = super().remember(states)
        return Memory(self.dropout(found.states), summary=found.summary)

    def attention_heads(self) -> dict[str, int]:
        return self.encoder.attention_heads() | super().attention_heads()


@dataclass(frozen=True, kw_only=True)
class TransformerCaptioner(PictureWriterConfig, kind="transformer-captioner"):
    """A stack whose blocks attend to the states of a picture."""

    embedding: EmbeddingConfig = TokenEmbedding(scaled=True)
    decoder: StackConfig = Stack(layers=2, block=Block(residual=PreNorm(), cross=MultiHead()), position=Sinusoidal())
    head: HeadConfig = LinearHead()

    def check(self) -> None:
        if not self.decoder.attends:
            raise ConfigError("decoder.block.cross is none: the decoder of a captioner attends to the picture")

    def assemble(self) -> TransformerCaptionerModel:
        return TransformerCaptionerModel(self)


class TransformerCaptionerModel(StackDecoder, PictureWriter):
    def __init__(self, config: TransformerCaptioner) -> None:
        super().__init__(config)
        width, vocabulary = config.width, config.vocabulary
        self.encoder = config.encoder.assemble()
        self.decoder = config.decoder.build(width, causal=True, memory_width=self.encoder.states_width)
        self.embedding = config.embedding.build(vocabulary, width, self.decoder.position)
        self.head = config.head.build(vocabulary, width, self.embedding)
