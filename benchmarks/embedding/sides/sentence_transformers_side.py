"""sentence-transformers: `encode`, which sorts by length itself, in one process with two threads or in two with one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from benchmarks.embedding.measure import Ways, main
from benchmarks.embedding.work import THREADS

SIZES = (8, 16, 32, 64)


def load(folder: Path) -> Ways:
    torch.set_num_threads(THREADS)
    model = SentenceTransformer(str(folder / "minilm"), device="cpu")

    def embed(texts: Sequence[str], size: int, pool: Any = None) -> NDArray[Any]:
        options = {"normalize_embeddings": True, "show_progress_bar": False}
        vectors: NDArray[Any] = model.encode(list(texts), batch_size=size, pool=pool, **options)
        return vectors

    os.environ["OMP_NUM_THREADS"] = "1"  # of the processes that are started now
    pool = model.start_multi_process_pool(["cpu"] * THREADS)
    return {
        **{f"{size} texts, {THREADS} threads": partial(embed, size=size) for size in SIZES},
        **{f"{size} texts, {THREADS} processes": partial(embed, size=size, pool=pool) for size in SIZES},
    }


if __name__ == "__main__":
    main(default=load)
