"""Cross-attention read as a word alignment: which weights, and how they become links between words."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.pairs import Pair, spans
from regard.data.words import words
from regard.errors import Error
from regard.models import Model
from regard.nn.stacks import StackLayers

Matrix = NDArray[np.float32]
Links = Sequence[tuple[int, int]]
Pieces = Sequence[tuple[int, int, int]]  # id, start, end in the text


@dataclass(frozen=True)
class Reading(Config):
    """Which weights are an alignment: the mean head of a layer, of the row that predicts a token or reads it."""

    layer: str
    shift: int = 0  # 0: the row that predicts the token, 1: the row that reads it

    def links(self, weights: Matrix) -> list[tuple[int, int]]:
        """For each target word the source word that it looks at most; (T, S) words."""
        return [(int(row.argmax()), target) for target, row in enumerate(weights) if len(row) and row.max() > 0]


def cross_layers(model: Model) -> list[str]:
    """The layers that attend to the tokens of the source; none where the encoder makes of them a shorter sequence."""
    encoder = getattr(model, "encoder", None)
    if isinstance(encoder, StackLayers) and encoder.shortens:
        return []
    return fnmatch.filter(model.attention_names(), "*.cross")


def usual_reading(model: Model) -> Reading:
    """Where no gold alignment can choose: the last layer but one, as it reads a token. arXiv:1909.02074, 2004.14675

    A decoder with one attention layer for all of its states has looked before it writes: there, as it predicts one.
    """
    layers = cross_layers(model)
    if not layers:
        raise Error("the model has no attention to the tokens of its source, so there is no alignment to read")
    return Reading(layers[-2:][0], shift=1 if len(layers) > 1 else 0)


def words_of(pair: Pair) -> tuple[Sequence[str], Sequence[str]]:
    """Gold words where they are known, else those that can be seen."""
    return pair.source_words or words(pair.source), pair.target_words or words(pair.target)


def membership(pieces: Pieces, text: str, words: Sequence[str]) -> Matrix:
    """(words, pieces): 1 where a piece lies in a word."""
    table = np.zeros((len(words), len(pieces)), dtype=np.float32)
    for word, (start, end) in enumerate(spans(text, words)):
        for piece, (_, left, right) in enumerate(pieces):
            table[word, piece] = left < end and right > start
    return table


def alignment_error_rate(found: Sequence[Links], gold: Sequence[Links]) -> float:
    """1 - (|A∩S| + |A∩P|) / (|A| + |S|) with sure links alone (S = P). Och and Ney 2003."""
    agree = sum(len(set(a) & set(g)) for a, g in zip(found, gold, strict=True))
    size = sum(len(set(a)) + len(set(g)) for a, g in zip(found, gold, strict=True))
    return 1 - 2 * agree / size if size else 0.0
