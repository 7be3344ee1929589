"""Files of vectors, written as they come: numpy's, whose length is known at the end, or an object a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from regard.runfolder import replacing

HEADER = 128  # bytes of a .npy file before its values; it is padded to this, so that it can be written last
MAGIC = b"\x93NUMPY\x01\x00"

Write = Callable[[Sequence[str], NDArray[np.float32]], None]


@contextmanager
def writing(path: Path | None, width: int) -> Iterator[Write | None]:
    """A function that takes texts and their vectors (texts, width); the file is in its place when the block ends well.
    None without a path."""
    if path is None:
        yield None
        return
    with replacing(path) as beside, beside.open("wb") as file:
        if path.suffix == ".npy":
            with _array(file, width) as write:
                yield write
        else:
            yield lambda texts, vectors: _objects(file, texts, vectors)


@contextmanager
def _array(file: IO[bytes], width: int) -> Iterator[Write]:
    count = 0

    def write(texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        nonlocal count
        count += len(vectors)
        file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())

    file.write(npy_header((0, width), "<f4"))
    yield write
    file.seek(0)
    file.write(npy_header((count, width), "<f4"))


def npy_header(shape: tuple[int, int], dtype: str) -> bytes:
    """As numpy's format 1.0 has it, always of the same length."""
    about = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    room = HEADER - len(MAGIC) - 2
    return MAGIC + room.to_bytes(2, "little") + (about.ljust(room - 1) + "\n").encode("latin-1")


def _objects(file: IO[bytes], texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
    for text, vector in zip(texts, vectors.tolist(), strict=True):
        one: dict[str, Any] = {"text": text, "vector": vector}
        file.write((json.dumps(one, ensure_ascii=False) + "\n").encode("utf-8"))
