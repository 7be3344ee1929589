"""This project: `bahdanau-2015` in another size; in fp32 as its peer, or in the precision `regard train` takes."""

from __future__ import annotations

from functools import partial
from typing import cast

import torch
from torch import Tensor

import regard
from benchmarks.recurrent.measure import Contender, main
from benchmarks.recurrent.work import BATCH, WRITTEN, Size
from benchmarks.sizes import SMOOTHING, VOCABULARY
from benchmarks.step.workload import DROPOUT, Batch
from regard.data.tokenizers import END, START
from regard.decoding import Decoding, translate
from regard.decoding.parallel import side_by_side
from regard.fast import quicken
from regard.fast.device import Precision, autocast
from regard.models import RecurrentModel


def build(size: Size, precision: Precision = "fp32") -> Contender:
    built = cast(
        RecurrentModel,
        regard.build(
            "bahdanau-2015",
            vocabulary=VOCABULARY,
            source_vocabulary=None,
            width=size.width,
            hidden=size.hidden,
            dropout=DROPOUT,
            reader={"kind": "bahdanau", "kernel": {"kind": "additive", "hidden": size.hidden}, "output": "plain"},
        ),
    )
    model = quicken(built)  # as the trainer and whoever loads a run do
    options = Decoding(min_length=WRITTEN, max_length=WRITTEN)

    def loss(batch: Batch) -> Tensor:
        with autocast(model, precision):
            features = model.features(batch.source, batch.decoder_input)
            return model.head.loss(features, batch.labels, smoothing=SMOOTHING)

    def one(batch: Tensor) -> list[list[int]]:
        return [best[0].tokens for best in translate(model, batch, None, options, start=START, end=END)]

    def write(sources: Tensor) -> Tensor:
        found = side_by_side(one, sources.split(BATCH), torch.device("cpu"))  # as a `Translator` does it
        return torch.tensor([tokens for batch in found for tokens in batch])

    return Contender(model, loss, write)


if __name__ == "__main__":
    main(default=build, auto=partial(build, precision="auto"))
