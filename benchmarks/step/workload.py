"""The work that every side does: one training step of an encoder-decoder on sentence pairs without padding.

Only torch and the standard library may be imported here, because this runs in the environment of every peer.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.sizes import VOCABULARY
from benchmarks.step.record import LENGTH, PAIRS

DROPOUT = 0.1
LEARNING_RATE = 1e-3
CLIP = 1.0
SPECIALS = 10  # ids below are special tokens in one toolkit or another; the batch has none, so nothing is padding


class Batch(NamedTuple):
    """Token ids: source (B, S), and target (B, T + 1), of which the last T are to be predicted from those before."""

    source: Tensor
    target: Tensor

    @property
    def decoder_input(self) -> Tensor:
        return self.target[:, :-1].contiguous()

    @property
    def labels(self) -> Tensor:
        return self.target[:, 1:].contiguous()


def random_batch() -> Batch:
    def tokens(length: int) -> Tensor:
        return torch.randint(SPECIALS, VOCABULARY, (PAIRS, length))

    return Batch(tokens(LENGTH), tokens(LENGTH + 1))
