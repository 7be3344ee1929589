"""CTranslate2: fp32 or int8, multiplied by MKL or, where `onednn` says so, by oneDNN."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.generation.measure import Write, main
from benchmarks.generation.work import THREADS, Row


def load(folder: Path, precision: str, onednn: bool = False) -> Write:
    if onednn:
        os.environ["CT2_USE_MKL"] = "0"  # read when the library is loaded
    import ctranslate2

    generator = ctranslate2.Generator(
        str(folder / "ctranslate2"), device="cpu", compute_type=precision, intra_threads=THREADS
    )

    def run(rows: Sequence[Row], length: int) -> list[Row]:
        found = generator.generate_batch(
            [[str(token) for token in row] for row in rows],
            min_length=length,
            max_length=length,
            sampling_topk=1,
            include_prompt_in_result=False,
        )
        return [one.sequences_ids[0] for one in found]

    return run


if __name__ == "__main__":
    main(
        fp32=partial(load, precision="float32"),
        fp32_onednn=partial(load, precision="float32", onednn=True),
        int8=partial(load, precision="int8"),
        int8_onednn=partial(load, precision="int8", onednn=True),
    )
