"""This project: `regard.decoding.translate`, batches side by side as `Translator` does it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch

from benchmarks.decoding.measure import Translate, main
from benchmarks.decoding.work import END, PAD, Mode, Row
from benchmarks.sizes import THREADS
from regard.checkpoint import put_weights, read_tensors
from regard.config import from_dict
from regard.data.batches import pad
from regard.decoding import Decoding, translate
from regard.decoding.parallel import even, side_by_side
from regard.fast import for_use, pack
from regard.models import EncoderDecoderModel, ModelConfig


def load(folder: Path, mode: Mode, length: int) -> Translate:
    torch.set_num_threads(THREADS)
    home = folder / "regard"
    model = from_dict(ModelConfig, json.loads((home / "config.json").read_text())).build()
    put_weights(model, read_tensors(home / "weights.safetensors"), str(home))
    translator = cast(EncoderDecoderModel, for_use(model, "cpu"))
    options = Decoding(beam=mode.beam, min_length=length, max_length=length)

    def work(batch: Sequence[Row]) -> list[Row]:
        source = torch.from_numpy(pad([np.array(row) for row in batch], PAD))
        keep = source != PAD
        found = translate(translator, source, None if keep.all() else keep, options, start=PAD, end=END)
        return [hypotheses[0].tokens for hypotheses in found]

    def run(rows: Sequence[Row]) -> list[Row]:
        cpu = torch.device("cpu")
        pack(translator, len(rows) * mode.beam)  # as a `Translator` does it
        found = side_by_side(work, even(rows, mode.batch, cpu), cpu)
        return [tokens for outputs in found for tokens in outputs]

    return run


if __name__ == "__main__":
    main(default=load)
