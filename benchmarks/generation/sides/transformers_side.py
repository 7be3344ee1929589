"""GPT2LMHeadModel of the transformers library: its `generate`, with its default attention and cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import GPT2LMHeadModel

from benchmarks.generation.measure import Write, main
from benchmarks.generation.work import END, PROMPT, THREADS, Row


def load(folder: Path) -> Write:
    torch.set_num_threads(THREADS)
    model = GPT2LMHeadModel.from_pretrained(folder / "transformers").eval()

    @torch.inference_mode()
    def run(rows: Sequence[Row], length: int) -> list[Row]:
        prompt = torch.tensor(rows)
        found = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            min_new_tokens=length,
            max_new_tokens=length,
            pad_token_id=END,
        )
        outputs: list[Row] = found[:, PROMPT:].tolist()
        return outputs

    return run


if __name__ == "__main__":
    main(default=load)
