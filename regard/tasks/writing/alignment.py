"""Word alignments from cross-attention: which source word a translated word looks at.

A row of the cross-attention belongs to the token that it predicts, or to the token that it reads; which of the two, and
which layer, follows the gold alignment best is chosen on validation pairs and recorded in the run.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

import numpy as np
import torch

from regard.data.pairs import Pair
from regard.look.alignment import (
    Links,
    Matrix,
    Pieces,
    Reading,
    alignment_error_rate,
    cross_layers,
    membership,
    words_of,
)
from regard.look.records import merged
from regard.models.padding import padded
from regard.nn.call.watch import watch
from regard.tasks.writing.translator import Translator

BATCH = 32


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


def align(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> list[Links]:
    """The links (source word, target word) of each pair."""
    weights = cross_weights(translator, pairs, reading.shift, reading.layer)[reading.layer]
    return [reading.links(one) for one in weights]


def error_rate(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> float:
    return alignment_error_rate(align(translator, pairs, reading), [pair.alignment for pair in pairs])


@torch.no_grad()
def cross_weights(
    translator: Translator, pairs: Sequence[Pair], shift: int, layer: str = "decoder.*.cross"
) -> dict[str, list[Matrix]]:
    """By layer, for each pair: (target words, source words), the mean of the heads, as the given target is written."""
    tokenizer, device = translator.tokenizer, translator.device
    found: dict[str, list[Matrix]] = {name: [] for name in fnmatch.filter(cross_layers(translator.model), layer)}
    for start in range(0, len(pairs), BATCH):
        chosen = pairs[start : start + BATCH]
        sources = [tokenizer.pieces(pair.source) for pair in chosen]
        targets = [tokenizer.pieces(pair.target) for pair in chosen]
        source, keep = padded([np.array([*(i for i, _, _ in pieces), tokenizer.end]) for pieces in sources], device)
        target, _ = padded([np.array([tokenizer.start, *(i for i, _, _ in pieces)]) for pieces in targets], device)
        with watch(translator.model, layer) as seen:
            translator.model.features(source, target, keep)
        for name in seen:
            weights = seen.last(name).mean(1).float().cpu().numpy()  # (B, T, S)
            for pair, one, left, right in zip(chosen, weights, sources, targets, strict=True):
                found[name].append(of_words(pair, one[shift : shift + len(right), : len(left)], left, right))
    return found


def of_words(pair: Pair, weights: Matrix, source: Pieces, target: Pieces) -> Matrix:
    """(target pieces, source pieces) → (target words, source words)."""
    source_words, target_words = words_of(pair)
    columns, rows = membership(source, pair.source, source_words), membership(target, pair.target, target_words)
    return np.asarray(merged(weights, rows, columns), dtype=np.float32)
