"""torch.nn.Transformer with the embedding, positions and output that a user has to add to it."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.sizes import SMOOTHING, VOCABULARY, Size
from benchmarks.step.measure import Trainee, main
from benchmarks.step.record import LENGTH
from benchmarks.step.workload import DROPOUT, Batch


def sinusoid(length: int, width: int) -> Tensor:
    """Positions (T, D) of Vaswani et al. 2017, section 3.5."""
    rates = 10_000 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(length).unsqueeze(1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class Translator(nn.Module):
    """Token ids (B, S) and (B, T) → logits (B, T, V); one table for source, target and output."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, size.width)
        nn.init.normal_(self.tokens.weight, std=size.width**-0.5)  # the default of 1 is too wide for a tied output
        self.scale = math.sqrt(size.width)
        self.dropout = nn.Dropout(DROPOUT)
        self.transformer = nn.Transformer(
            size.width, size.heads, size.layers, size.layers, size.hidden, DROPOUT, batch_first=True
        )
        self.register_buffer("positions", sinusoid(LENGTH, size.width))
        self.register_buffer("causal", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def embed(self, tokens: Tensor) -> Tensor:
        return self.dropout(self.tokens(tokens) * self.scale + self.positions)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        hidden = self.transformer(self.embed(source), self.embed(target), tgt_mask=self.causal, tgt_is_causal=True)
        return F.linear(hidden, self.tokens.weight)


def build(size: Size, batch: Batch, fused: bool) -> Trainee:
    model = Translator(size)
    source, decoder_input, labels = batch.source, batch.decoder_input, batch.labels.flatten()

    def loss() -> Tensor:
        logits = model(source, decoder_input)
        return F.cross_entropy(logits.flatten(0, 1), labels, label_smoothing=SMOOTHING)

    return Trainee(model, loss, fused)


if __name__ == "__main__":
    main(fused=partial(build, fused=True), unfused=partial(build, fused=False))
