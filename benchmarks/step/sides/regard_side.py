"""This project: the preset, with dropout where torch.nn.Transformer has it, or only where the paper has it."""

from __future__ import annotations

from functools import partial

from torch import Tensor

import regard
from benchmarks.sizes import SIZES, SMOOTHING, VOCABULARY, Size
from benchmarks.step.measure import Trainee, main
from benchmarks.step.workload import DROPOUT, Batch
from regard.fast import quicken


def build(size: Size, batch: Batch, inner_dropout: float) -> Trainee:
    """`inner_dropout` falls on attention weights and hidden values; embeddings and sublayers always have theirs."""
    name = next(name for name, known in SIZES.items() if known is size)
    built = regard.build(
        f"transformer-{name}",
        vocabulary=VOCABULARY,
        dropout=DROPOUT,
        weight_dropout=inner_dropout,
        hidden_dropout=inner_dropout,
    )
    model = quicken(built)  # as the trainer does
    source, decoder_input, labels = batch.source, batch.decoder_input, batch.labels

    def loss() -> Tensor:
        return model.head.loss(model.features(source, decoder_input), labels, smoothing=SMOOTHING)

    return Trainee(model, loss)


if __name__ == "__main__":
    main(matched=partial(build, inner_dropout=DROPOUT), paper=partial(build, inner_dropout=0.0))
