"""onnxruntime: a graph, the tokenizer of its folder, and batches of texts of one length as far as there are.

One batch at a time with two threads, or two side by side with one thread each.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.embedding.measure import Ways, main
from benchmarks.embedding.work import THREADS

SIZES = (8, 16, 32, 64)
LONGEST = 256  # as MiniLM's own files say


class Runner:
    """So many `workers` call the graph at a time and share the threads."""

    def __init__(self, graph: Path, tokenizer: Tokenizer, workers: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS // workers, 1
        self.tokenizer = tokenizer
        self.session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        self.pool = ThreadPoolExecutor(workers)

    def __call__(self, texts: Sequence[str], size: int) -> NDArray[Any]:
        rows = [found.ids for found in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        vectors: list[Any] = [None] * len(rows)
        made = self.pool.map(lambda chosen: self.pooled([rows[i] for i in chosen]), batches)
        for chosen, found in zip(batches, made, strict=True):
            for i, vector in zip(chosen, found, strict=True):
                vectors[i] = vector
        return np.stack(vectors)

    def pooled(self, rows: Sequence[Sequence[int]]) -> NDArray[Any]:
        """The mean of the states, of length 1."""
        longest = max(map(len, rows))
        tokens, mask = np.zeros((2, len(rows), longest), dtype=np.int64)
        for i, row in enumerate(rows):
            tokens[i, : len(row)], mask[i, : len(row)] = row, 1
        (states,) = self.session.run(None, {"input_ids": tokens, "attention_mask": mask})
        means = (states * mask[..., None].astype(np.float32)).sum(1) / mask.sum(1, keepdims=True).astype(np.float32)
        normed: NDArray[Any] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return normed


def load(folder: Path, graph: str) -> Ways:
    tokenizer = Tokenizer.from_file(str(folder / "minilm" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    one, two = Runner(folder / graph, tokenizer, 1), Runner(folder / graph, tokenizer, THREADS)
    return {
        **{f"{size} texts, {THREADS} threads": partial(one, size=size) for size in SIZES},
        **{f"{size} texts, {THREADS} at a time": partial(two, size=size) for size in SIZES},
    }


if __name__ == "__main__":
    main(
        fused=partial(load, graph="transformers/model.onnx"),
        exported=partial(load, graph="onnx/model.onnx"),
        int8=partial(load, graph="transformers/int8.onnx"),
    )
