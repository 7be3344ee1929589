"""Whole networks. A config's `build()` makes the model; all of them answer `encode`, `forward` and `step` alike."""

from regard.models.asker import Asker, AskerModel
from regard.models.bag_of_words import BagOfWords, BagOfWordsModel
from regard.models.base import (
    InputReader,
    InputReaderConfig,
    LabellerConfig,
    MemoryWriter,
    Model,
    ModelConfig,
    PictureReader,
    PictureReaderConfig,
    SourceWriter,
    SourceWriterConfig,
    State,
    TextLabeller,
    TextModelConfig,
    TextReader,
    TextReaderConfig,
    TextWriter,
    TextWriterConfig,
    TokenLabeller,
    Writer,
    WriterConfig,
    picture_reader_in,
    reader_in,
)
from regard.models.bilm import BiLM, BiLMModel
from regard.models.caption_readers import Vinyals, Xu
from regard.models.captioner import (
    PictureWriter,
    PictureWriterConfig,
    RecurrentCaptioner,
    RecurrentCaptionerModel,
    TransformerCaptioner,
    TransformerCaptionerModel,
)
from regard.models.classifier import Classifier, ClassifierModel
from regard.models.decoder import Decoder, DecoderModel
from regard.models.detector import Detector, DetectorModel
from regard.models.encoder import Encoder, EncoderModel, encoder_in
from regard.models.encoder_decoder import EncoderDecoder, EncoderDecoderModel
from regard.models.ensemble import Ensemble
from regard.models.fewshot import FewShot, FewShotModel
from regard.models.hierarchical import Hierarchical, HierarchicalModel
from regard.models.lstmn import LSTMN, LSTMNEncoder, LSTMNEncoderModel, LSTMNModel
from regard.models.picture_encoder import PictureEncoder, PictureEncoderModel
from regard.models.recurrent import Recurrent, RecurrentModel
from regard.models.recurrent_decoder import RecurrentDecoder, RecurrentDecoderModel
from regard.models.recurrent_encoder import RecurrentEncoder, RecurrentEncoderModel
from regard.models.snail import Snail, SnailModel
from regard.models.tagger import Tagger, TaggerModel
from regard.models.turing import Turing, TuringModel
from regard.models.two_stream import TwoStream, TwoStreamModel

__all__ = [
    "LSTMN",
    "Classifier",
    "ClassifierModel",
    "Asker",
    "AskerModel",
    "BagOfWords",
    "BagOfWordsModel",
    "BiLM",
    "BiLMModel",
    "Decoder",
    "DecoderModel",
    "Detector",
    "DetectorModel",
    "Encoder",
    "EncoderDecoder",
    "EncoderDecoderModel",
    "EncoderModel",
    "Ensemble",
    "LSTMNEncoder",
    "LSTMNEncoderModel",
    "LSTMNModel",
    "FewShot",
    "FewShotModel",
    "Hierarchical",
    "HierarchicalModel",
    "LabellerConfig",
    "MemoryWriter",
    "Model",
    "ModelConfig",
    "PictureEncoder",
    "PictureEncoderModel",
    "PictureReader",
    "PictureReaderConfig",
    "InputReader",
    "InputReaderConfig",
    "PictureWriter",
    "PictureWriterConfig",
    "Recurrent",
    "RecurrentCaptioner",
    "RecurrentCaptionerModel",
    "RecurrentDecoder",
    "RecurrentDecoderModel",
    "RecurrentEncoder",
    "RecurrentEncoderModel",
    "RecurrentModel",
    "Snail",
    "SnailModel",
    "SourceWriter",
    "SourceWriterConfig",
    "State",
    "Tagger",
    "TaggerModel",
    "TextLabeller",
    "TextModelConfig",
    "TextReader",
    "TextReaderConfig",
    "TextWriter",
    "TextWriterConfig",
    "TokenLabeller",
    "TransformerCaptioner",
    "TransformerCaptionerModel",
    "Turing",
    "TuringModel",
    "TwoStream",
    "TwoStreamModel",
    "Vinyals",
    "Writer",
    "WriterConfig",
    "Xu",
    "encoder_in",
    "picture_reader_in",
    "reader_in",
]
