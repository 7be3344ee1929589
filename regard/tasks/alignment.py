"""Word alignments from cross-attention: which source word a translated word looks at.

A row of the cross-attention belongs to the token that it predicts, or to the token that it reads; which of the two, and
which layer, follows the gold alignment best is chosen on validation pairs and recorded in the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.pairs import Pair, spans
from regard.data.tokenizers import END, START
from regard.nn.watch import watch
from regard.tasks.scores import alignment_error_rate

if TYPE_CHECKING:
    from regard.tasks.translation import Translator

Links = list[tuple[int, int]]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Reading:
    """Which weights are an alignment: the mean head of a layer, of the row that predicts a token or reads it."""

    layer: str
    shift: int = 0  # 0: the row that predicts the token, 1: the row that reads it

    def links(self, weights: Matrix) -> Links:
        """For each target word the source word that it looks at most; (T, S) words."""
        return [(int(row.argmax()), target) for target, row in enumerate(weights) if row.max() > 0]


def words_of(pair: Pair) -> tuple[Sequence[str], Sequence[str]]:
    """Gold words where they are known, else what white space separates."""
    return pair.source_words or pair.source.split(), pair.target_words or pair.target.split()


def membership(pieces: Sequence[tuple[int, int, int]], text: str, words: Sequence[str]) -> Matrix:
    """(words, pieces): 1 where a piece lies in a word."""
    table = np.zeros((len(words), len(pieces)), dtype=np.float32)
    for word, (start, end) in enumerate(spans(text, words)):
        for piece, (_, left, right) in enumerate(pieces):
            table[word, piece] = left < end and right > start
    return table


@torch.no_grad()
def cross_weights(translator: Translator, pairs: Sequence[Pair], shift: int) -> dict[str, list[Matrix]]:
    """By layer, for each pair: (target words, source words), the mean of the heads, as the given target is written."""
    found: dict[str, list[Matrix]] = {}
    for pair in pairs:
        source_pieces = translator.tokenizer.pieces(pair.source)
        target_pieces = translator.tokenizer.pieces(pair.target)
        source = torch.tensor([[piece[0] for piece in source_pieces] + [END]], device=translator.device)
        target = torch.tensor([[START] + [piece[0] for piece in target_pieces]], device=translator.device)
        with watch(translator.model, "decoder.*.cross") as seen:
            translator.model.features(source, target)
        source_words, target_words = words_of(pair)
        columns = membership(source_pieces, pair.source, source_words)
        rows = membership(target_pieces, pair.target, target_words)
        rows /= np.maximum(rows.sum(1, keepdims=True), 1)
        for layer in seen:
            pieces = seen.last(layer)[0].mean(0).float().cpu().numpy()[shift : shift + len(target_pieces), :-1]
            found.setdefault(layer, []).append(rows @ pieces @ columns.T)
    return found


def choose_reading(translator: Translator, pairs: Sequence[Pair]) -> tuple[Reading, float]:
    """The reading with the lowest alignment error rate on these pairs, and that rate."""
    gold = [pair.alignment for pair in pairs]
    rated = []
    for shift in (0, 1):
        for layer, weights in cross_weights(translator, pairs, shift).items():
            reading = Reading(layer, shift)
            rated.append((alignment_error_rate([reading.links(one) for one in weights], gold), layer, reading))
    error, _, best = min(rated, key=lambda entry: entry[:2])
    return best, error


def error_rate(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> float:
    weights = cross_weights(translator, pairs, reading.shift)[reading.layer]
    return alignment_error_rate([reading.links(one) for one in weights], [pair.alignment for pair in pairs])
