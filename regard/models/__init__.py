"""Whole networks. A config's `build()` makes the model; all of them answer `encode`, `forward` and `step` alike."""

from regard.models.base import (
    LabellerConfig,
    Model,
    ModelConfig,
    SourceWriter,
    SourceWriterConfig,
    State,
    TextLabeller,
    TextModelConfig,
    TextReader,
    TextReaderConfig,
    TokenLabeller,
    Writer,
    WriterConfig,
)
from regard.models.decoder import Decoder, DecoderModel
from regard.models.encoder import Encoder, EncoderModel
from regard.models.encoder_decoder import EncoderDecoder, EncoderDecoderModel
from regard.models.recurrent import Recurrent, RecurrentModel
from regard.models.recurrent_encoder import RecurrentEncoder, RecurrentEncoderModel

__all__ = [
    "Decoder",
    "DecoderModel",
    "Encoder",
    "EncoderDecoder",
    "EncoderDecoderModel",
    "EncoderModel",
    "LabellerConfig",
    "Model",
    "ModelConfig",
    "Recurrent",
    "RecurrentEncoder",
    "RecurrentEncoderModel",
    "RecurrentModel",
    "SourceWriter",
    "SourceWriterConfig",
    "State",
    "TextLabeller",
    "TextModelConfig",
    "TextReader",
    "TextReaderConfig",
    "TokenLabeller",
    "Writer",
    "WriterConfig",
]
