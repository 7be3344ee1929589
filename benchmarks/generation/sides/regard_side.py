"""This project: `regard.decoding.complete`, in fp32 or with matrices of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

import torch

from benchmarks.generation.measure import Write, main
from benchmarks.generation.work import END, THREADS, Row
from regard.checkpoint import put_weights, read_tensors
from regard.config import from_dict
from regard.decoding import Decoding, complete
from regard.fast import for_use, pack
from regard.fast.int8 import quantise
from regard.models import ModelConfig, TextWriter


def load(folder: Path, int8: bool) -> Write:
    torch.set_num_threads(THREADS)
    home = folder / "regard"
    model = from_dict(ModelConfig, json.loads((home / "config.json").read_text())).build()
    put_weights(model, read_tensors(home / "weights.safetensors"), str(home))
    used = for_use(model, "cpu")
    writer = cast(TextWriter, quantise(used) if int8 else used)

    def run(rows: Sequence[Row], length: int) -> list[Row]:
        pack(writer, len(rows))
        options = Decoding(min_length=length, max_length=length)
        return [found.tokens for (found,) in complete(writer, torch.tensor(rows), None, options, END)]

    return run


if __name__ == "__main__":
    main(fp32=partial(load, int8=False), int8=partial(load, int8=True))
