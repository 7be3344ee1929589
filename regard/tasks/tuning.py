"""What suits a model that begins from a trained encoder: other rates, and texts read as it read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import torch

from regard.config import ConfigError, Size
from regard.data.tokenizers import Tokenizer
from regard.models import (
    Classifier,
    Encoder,
    InputReaderConfig,
    ModelConfig,
    PictureReaderConfig,
    Tagger,
    TextModelConfig,
    TextReaderConfig,
)
from regard.nn.pooling import AttentionPooling, FirstToken, LastToken, Mean, PoolConfig
from regard.tasks.base import TaskConfig

RATE, WIDTH = 5e-5, 768  # the highest that BERT-base was tuned with: runs are short; narrower models take a higher one
LONGEST = 256  # tokens of a text, unless told: twice as many take more than twice as long

Fields = Mapping[str, Any]


@lru_cache(maxsize=16)
def longest_of(model: ModelConfig) -> int | None:
    """The most tokens that it reads; None for any number."""
    with torch.device("meta"):
        return model.build().longest


def check_length(model: ModelConfig, max_length: int, frame: int = 0) -> None:
    """Texts of so many tokens, with so many special ones around them, must fit into a model, and hold any text."""
    if max_length <= frame:
        raise ConfigError(f"max_length {max_length} holds no text; it takes at least {frame + 1} tokens")
    most = longest_of(model)
    if most is not None and max_length > most:
        raise ConfigError(f"max_length {max_length}: the model reads at most {most} tokens")


def check_context(model: ModelConfig, context: int) -> None:
    """A model must have a place for each token of a context."""
    longest = longest_of(model)
    if longest is not None and longest < context:
        raise ConfigError(
            f"a context of {context} is more than the {longest} places of the model: "
            f"take --context {longest}, or another --length for its positions"
        )


@dataclass(frozen=True)
class OnReader(TaskConfig):
    """A task whose model stands on a reader of texts of at most `max_length` tokens, which may be a trained one."""

    max_length: Size = 256

    def beginning(self, reader: TextReaderConfig) -> tuple[Fields, Fields]:
        """For an encoder; other readers are tuned as they learn from nothing."""
        if not isinstance(reader, Encoder):
            return {}, {}
        task = {"max_length": min(longest_of(reader) or LONGEST, LONGEST)}
        return task, {"batch_tokens": 4096, **tuning(reader)}


@dataclass(frozen=True)
class OnTokens(OnReader):
    """A task whose model says something of each token. `lacks` is what other models are told, and `frame` how many
    special tokens stand around a text beside its `max_length`."""

    preset: ClassVar[str] = "tagger"
    lacks: ClassVar[str]
    frame: ClassVar[int] = 0

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Tagger):
            raise ConfigError(f"model: one of kind {model.kind} {self.lacks}; take one of kind tagger")
        check_length(model, self.max_length, self.frame)

    def around(self, reader: TextReaderConfig) -> Tagger:
        return Tagger(reader=reader, states_dropout=min(usual_dropout(reader), 0.2), init=reader.init)


def tuning(model: TextModelConfig) -> dict[str, Any]:
    """Fields of the training of what has learnt already."""
    rate = RATE * WIDTH / model.width
    return {
        "optimiser": {"kind": "adamw", "rate": rate, "beta2": 0.999, "eps": 1e-8, "decay": 0.01},
        "schedule": {"kind": "stable-decay", "warmup": 100, "decay": 0.9},
        "average": {"kind": "exponential", "decay": 0.99},
    }


def usual_pool(reader: InputReaderConfig) -> PoolConfig:
    """The mean of the states of an encoder or a picture, which serves also where no pooled vector was trained; else
    attention."""
    return Mean() if isinstance(reader, Encoder | PictureReaderConfig) else AttentionPooling()


def pooling_the_start(model: ModelConfig, tokenizer: Tokenizer) -> ModelConfig:
    """Where texts are closed by the start, the pool of the first token is that of the last: the same token."""
    if isinstance(model, Classifier) and isinstance(model.pool, FirstToken) and tokenizer.closes:
        return replace(model, pool=LastToken(dense=model.pool.dense))
    return model


def usual_dropout(reader: InputReaderConfig) -> float:
    """BERT's, or more for what is small and learns from nothing."""
    return 0.1 if isinstance(reader, Encoder | PictureReaderConfig) else 0.3
