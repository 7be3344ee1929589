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
from regard.data.progress import counting
from regard.data.words import words
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
from regard.tasks.base import Done
from regard.tasks.writing.translator import Rendering, Translator

PAIRS_A_BATCH = 16
SHIFTS = (0, 1)  # a row of weights belongs to the token that it predicts, or to the one that it reads


def choose_reading(translator: Translator, pairs: Sequence[Pair], bar: bool = True) -> tuple[Reading, float]:
    """The reading with the lowest alignment error rate on these pairs, and that rate."""
    gold = [pair.alignment for pair in pairs]
    rated = []
    with counting("choosing the layer that aligns words, pairs", len(pairs), bar=bar) as done:
        found = cross_weights_of(translator, pairs, SHIFTS, done=done)
    for (layer, shift), weights in sorted(found.items(), key=lambda entry: entry[0][1]):
        reading = Reading(layer, shift)
        rated.append((alignment_error_rate([reading.links(one) for one in weights], gold), layer, reading))
    error, _, best = min(rated, key=lambda entry: entry[:2])
    return best, error


def align(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> list[Links]:
    """The links (source word, target word) of each pair."""
    return [reading.links(one) for one in cross_weights(translator, pairs, reading)]


def pharaoh(translator: Translator, one: Rendering) -> str:
    """The links of a text and its translation as 0-0 1-2, counting words, by the layer that the run recorded."""
    assert translator.reading is not None
    links: list[str] = []
    sources = targets = 0  # words before this part
    pairs = [Pair(*part) for part in one.parts]
    for pair, found in zip(pairs, align(translator, pairs, translator.reading), strict=True):
        links += [f"{sources + left}-{targets + right}" for left, right in found]
        sources, targets = sources + len(words(pair.source)), targets + len(words(pair.target))
    return " ".join(links)


def error_rate(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> float:
    return alignment_error_rate(align(translator, pairs, reading), [pair.alignment for pair in pairs])


def cross_weights(translator: Translator, pairs: Sequence[Pair], reading: Reading) -> list[Matrix]:
    """For each pair: (target words, source words), the mean of the heads, as the given target is written."""
    return cross_weights_of(translator, pairs, (reading.shift,), reading.layer)[reading.layer, reading.shift]


@torch.no_grad()
def cross_weights_of(
    translator: Translator,
    pairs: Sequence[Pair],
    shifts: Sequence[int],
    layer: str = "decoder.*.cross",
    done: Done | None = None,
) -> dict[tuple[str, int], list[Matrix]]:
    """The same by layer and by shift; `done` hears how many more pairs the model has read."""
    tokenizer, device = translator.tokenizer, translator.device
    layers = fnmatch.filter(cross_layers(translator.model), layer)
    found: dict[tuple[str, int], list[Matrix]] = {(name, shift): [] for name in layers for shift in shifts}
    for start in range(0, len(pairs), PAIRS_A_BATCH):
        chosen = pairs[start : start + PAIRS_A_BATCH]
        sources = [tokenizer.pieces(pair.source) for pair in chosen]
        targets = [tokenizer.pieces(pair.target) for pair in chosen]
        source, keep = padded([np.array([*(i for i, _, _ in pieces), tokenizer.end]) for pieces in sources], device)
        target, _ = padded([np.array([tokenizer.start, *(i for i, _, _ in pieces)]) for pieces in targets], device)
        with watch(translator.model, layer) as seen:
            translator.model.features(source, target, keep)
        for name in seen:
            weights = seen.last(name).mean(1).float().cpu().numpy()  # (B, T, S)
            for pair, one, left, right in zip(chosen, weights, sources, targets, strict=True):
                for shift in shifts:
                    part = one[shift : shift + len(right), : len(left)]
                    found[name, shift].append(of_words(pair, part, left, right))
        if done is not None:
            done(len(chosen))
    return found


def of_words(pair: Pair, weights: Matrix, source: Pieces, target: Pieces) -> Matrix:
    """(target pieces, source pieces) → (target words, source words)."""
    source_words, target_words = words_of(pair)
    columns, rows = membership(source, pair.source, source_words), membership(target, pair.target, target_words)
    return np.asarray(merged(weights, rows, columns), dtype=np.float32)
