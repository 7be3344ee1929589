"""Whole networks. A config's `build()` makes the model; all of them answer `encode`, `forward` and `step` alike."""

from regard.models.base import Model, ModelConfig, SourceWriter, SourceWriterConfig, State, Writer
from regard.models.decoder import Decoder, DecoderModel
from regard.models.encoder import Encoder, EncoderModel
from regard.models.encoder_decoder import EncoderDecoder, EncoderDecoderModel
from regard.models.recurrent import Recurrent, RecurrentModel

__all__ = [
    "Decoder",
    "DecoderModel",
    "Encoder",
    "EncoderDecoder",
    "EncoderDecoderModel",
    "EncoderModel",
    "Model",
    "ModelConfig",
    "Recurrent",
    "RecurrentModel",
    "SourceWriter",
    "SourceWriterConfig",
    "State",
    "Writer",
]
