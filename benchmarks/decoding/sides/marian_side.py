"""MarianMTModel of the transformers library: its `generate`, with its default attention and cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianMTModel

from benchmarks.decoding.measure import Translate, main
from benchmarks.decoding.work import PAD, Mode, Row, batches
from benchmarks.sizes import THREADS


def load(folder: Path, mode: Mode, length: int) -> Translate:
    torch.set_num_threads(THREADS)
    model = MarianMTModel.from_pretrained(folder / "marian").eval()

    @torch.inference_mode()
    def run(rows: Sequence[Row]) -> list[Row]:
        outputs: list[Row] = []
        for batch in batches(rows, mode.batch):
            source = pad_sequence([torch.tensor(row) for row in batch], batch_first=True, padding_value=PAD)
            found = model.generate(
                input_ids=source,
                attention_mask=(source != PAD).long(),
                num_beams=mode.beam,
                do_sample=False,
                min_new_tokens=length,
                max_new_tokens=length,
            )
            outputs += found[:, 1:].tolist()  # without the start
        return outputs

    return run


if __name__ == "__main__":
    main(default=load)
