"""Vectors of texts: what a model that reads them whole makes of each, as one vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.checkpoint import load_both
from regard.config import nearest
from regard.data.batches import by_tokens
from regard.data.given import checked_texts, refuse_blank
from regard.data.tokenizers import Tokenizer
from regard.errors import Error
from regard.fast import for_use, pack
from regard.models import EncoderModel, TextReader, reader_in
from regard.models.encoder import own_segments
from regard.models.padding import padded
from regard.nn.call.memory import Memory
from regard.nn.pooling import last_real
from regard.runfolder import Run, RunError
from regard.sides.text import framed_rows
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool

POOLS = ("mean", "cls")
LONGEST = 512  # tokens of a text, where a model sets no limit
BATCH_TOKENS = 1024  # that are read at once, padding included: what a core computes of them stays in its cache
WIDE = 16_384  # the same on other devices, which want more to do at a time
SECTION = "embedding"  # of a run's config: {"pool": …}, where a model was made for one way to pool

Vectors = NDArray[np.float32]


class Embedder(Tool):
    """Makes vectors of texts: `embedder(["A text.", "Another."])` is (2, width), each of length 1.

    `pool` "mean" averages the states of all tokens, specials included; "cls" takes that of the start, wherever the
    tokenizer puts it. A text of more tokens than the model reads is cut, and how many are is said.
    """

    def __init__(self, model: TextReader, tokenizer: Tokenizer, pool: str = "mean", longest: int | None = None) -> None:
        if pool not in POOLS:
            raise Error(f"unknown pooling {pool!r}: {nearest(pool, POOLS)}")
        super().__init__(model, tokenizer)
        self.pool = pool
        self.longest = min(longest or LONGEST, model.longest or LONGEST)

    def __call__(
        self,
        texts: Sequence[str],
        normalised: bool = True,
        batch: int = 64,
        say: Say | None = None,
        done: Done | None = None,
    ) -> Vectors:
        """(texts, width), in their order; batches are made by length. `done` hears how many more are read."""
        texts = checked_texts(texts)
        refuse_blank(texts, "so it has no vector: take it out or give it words")
        rows, cut = framed_rows(self.tokenizer, texts, self.longest)
        if cut and say is not None:
            say(f"{cut:,} of {len(texts):,} texts have more than {self.longest:,} tokens and were read up to there")
        batches = list(by_tokens(rows, batch, BATCH_TOKENS if self.device.type == "cpu" else WIDE))

        if len(batches) > 1:
            pack(self.model)

        def work(chosen: Sequence[int]) -> Vectors:
            with torch.no_grad():
                vectors = self.pooled(*padded([np.array(rows[i]) for i in chosen], self.device)).float()
                vectors = torch.nn.functional.normalize(vectors, dim=-1) if normalised else vectors
            return np.asarray(vectors.cpu().numpy(), dtype=np.float32)

        return np.array(self.in_order(batches, work, done), dtype=np.float32).reshape(len(rows), self.width)

    def pooled(self, tokens: Tensor, keep: Tensor | None) -> Tensor:
        memory = self.memory(tokens, keep)
        states, keep = memory.states, memory.keep
        if self.pool == "cls":
            return last_real(states, keep) if self.tokenizer.closes else states[:, 0]
        if keep is None:
            return states.mean(1)
        real = keep.unsqueeze(-1).to(states.dtype)
        return (states * real).sum(1) / real.sum(1)

    def memory(self, tokens: Tensor, keep: Tensor | None) -> Memory:
        if isinstance(self.model, EncoderModel):
            return self.model.encode(tokens, keep, own_segments(self.model, self.tokenizer, tokens))
        memory: Memory = self.model.encode(tokens, keep)
        return memory

    @property
    def width(self) -> int:
        width: int = self.model.states_width
        return width


def load_embedder(folder: str | Path, pool: str | None = None) -> Embedder:
    """Of any run whose model reads texts whole or has a reader that does, whatever it was trained for."""
    run = Run(folder)
    model, tokenizer = load_both(run)
    about = run.read_config()
    task = about.get("task", {})  # of a run that is still trained to make vectors
    trained = {"pool": task["pooling"], "longest": task.get("max_length")} if "pooling" in task else {}
    recorded = about.get(SECTION, trained)
    reader = reader_in(for_use(model))
    if reader is None:
        raise RunError(
            f"{run.path}: a model of kind {model.config.kind!r} is no encoder, so it makes no vectors of texts"
        )
    return Embedder(reader, tokenizer, pool or recorded.get("pool", POOLS[0]), recorded.get("longest"))
