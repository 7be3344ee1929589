"""This project: what `regard embed` calls, in fp32 or with matrices of bytes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from benchmarks.embedding.measure import Ways, main
from benchmarks.embedding.work import THREADS
from regard.fast.int8 import quantise
from regard.tasks.vectors.embedding import load_embedder


def load(folder: Path, int8: bool) -> Ways:
    torch.set_num_threads(THREADS)
    embedder = load_embedder(folder / "regard")
    if int8:
        quantise(embedder.model)
    return {"as shipped": embedder}


if __name__ == "__main__":
    main(fp32=partial(load, int8=False), int8=partial(load, int8=True))
