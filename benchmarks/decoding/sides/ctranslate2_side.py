"""CTranslate2: fp32 or int8; one worker of two threads, or two workers of one thread that take batches side by side.

On processors of Intel it multiplies by MKL unless told otherwise; `onednn` tells it so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.decoding.measure import Translate, main
from benchmarks.decoding.work import Mode, Row
from benchmarks.sizes import THREADS


def load(folder: Path, mode: Mode, length: int, precision: str, workers: int, onednn: bool = False) -> Translate:
    if onednn:
        os.environ["CT2_USE_MKL"] = "0"  # read when the library is loaded
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder / "ctranslate2"),
        device="cpu",
        compute_type=precision,
        inter_threads=workers,
        intra_threads=THREADS // workers,
    )

    def run(rows: Sequence[Row]) -> list[Row]:
        found = translator.translate_batch(
            [[str(token) for token in row] for row in rows],
            max_batch_size=mode.batch,
            beam_size=mode.beam,
            min_decoding_length=length,
            max_decoding_length=length,
        )
        return [[int(token) for token in one.hypotheses[0]] for one in found]

    return run


if __name__ == "__main__":
    main(
        fp32=partial(load, precision="float32", workers=1),
        fp32_workers=partial(load, precision="float32", workers=2),
        fp32_onednn=partial(load, precision="float32", workers=1, onednn=True),
        fp32_onednn_workers=partial(load, precision="float32", workers=2, onednn=True),
        int8=partial(load, precision="int8", workers=1),
        int8_workers=partial(load, precision="int8", workers=2),
        int8_onednn=partial(load, precision="int8", workers=1, onednn=True),
        int8_onednn_workers=partial(load, precision="int8", workers=2, onednn=True),
    )
