"""One side of `python -m benchmarks.corpus_tokens`, in a process of its own: prints seconds and peak memory as JSON.

`regard-1`, `regard-2`: a file to a token store on disk, by one process and by two. `library-1`, `library-2`: the same
pieces of text through `encode_batch` of the `tokenizers` library, with one thread and with two; it makes ids in memory,
and they are dropped at once.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import Peak, memory

AT_ONCE = 64  # pieces of 16 KiB that the library is given at once


def main(variant: str, folder: Path) -> None:
    name, _, count = variant.partition("-")
    if name == "library":  # before the library is imported
        os.environ |= {"TOKENIZERS_PARALLELISM": "true" if int(count) > 1 else "false", "RAYON_NUM_THREADS": count}
    from regard.data.corpus import Rowing, document_rows, tokenized
    from regard.data.documents import file_document
    from regard.data.text import Pieces
    from regard.data.tokenizers import Tokenizer

    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    documents = [file_document(folder / "text.txt")]
    before, tokens = memory("VmRSS"), 0
    with Peak() as peak, TemporaryDirectory(dir=folder) as store:
        started, begun = time.perf_counter(), sum(os.times()[:4])
        if name == "regard":
            rowing = Rowing(partial(document_rows, end=tokenizer.end), joined=True)
            read = partial(tokenized, workers=int(count), total=lambda: documents[0].size)
            tokens = read(Path(store), Pieces(documents), tokenizer, rowing, lambda _: None).tokens(0)
        else:
            pieces = (piece for piece in Pieces(documents) if piece is not None)
            while some := list(itertools.islice(pieces, AT_ONCE)):
                found = tokenizer.backend.encode_batch(some, add_special_tokens=False)
                tokens += sum(len(encoding.ids) for encoding in found)
        seconds, worked = time.perf_counter() - started, sum(os.times()[:4]) - begun
    size = documents[0].size / 1e6
    measured = {"megabytes": size, "seconds": seconds, "worked": worked, "tokens": tokens}
    print(json.dumps({**measured, "peak": peak.mebibytes, "before": before}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
