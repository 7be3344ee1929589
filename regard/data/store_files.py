"""The files of a token store, as they are written: for each side one of ids and one of offsets, and the header."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1
OFFSET = np.dtype("<i8")


class SideWriter:
    """Streams the rows of one side into its two files, behind what they hold already."""

    def __init__(
        self, ids: IO[bytes], offsets: IO[bytes], vocabulary: int, side: int, tokens: int = 0, rows: int = 0
    ) -> None:
        self._ids, self._offsets = ids, offsets
        self._vocabulary, self._side = vocabulary, side
        self._dtype = id_type(vocabulary)
        self.tokens, self.rows = tokens, rows
        if not rows:
            offsets.write(np.zeros(1, OFFSET).tobytes())

    def write(self, rows: Sequence[Sequence[int] | NDArray[Any]], continued: bool = False) -> None:
        """Append rows. With `continued`, the first of them continues the last row that was written."""
        if not rows:
            return
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        ids = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
        if len(ids) and (ids.min() < 0 or ids.max() >= self._vocabulary):
            self._complain(rows)
        if continued and self.rows:
            self._offsets.seek(-OFFSET.itemsize, os.SEEK_CUR)
            self.rows -= 1
        self._ids.write(ids.astype(self._dtype).tobytes())
        self._offsets.write((self.tokens + np.cumsum(lengths)).astype(OFFSET).tobytes())
        self.tokens += len(ids)
        self.rows += len(rows)

    def _complain(self, rows: Sequence[Sequence[int] | NDArray[Any]]) -> None:
        for number, row in enumerate(rows, self.rows):
            for i in row:
                if not 0 <= i < self._vocabulary:
                    raise ValueError(
                        f"row {number}, side {self._side}: token {i} is outside the vocabulary of {self._vocabulary}"
                    )

    def flush(self) -> None:
        """Hand everything to the system, so that it survives the end of this process."""
        for file in (self._ids, self._offsets):
            file.flush()

    def to_disk(self) -> int:
        """Flush the files to the disk, before a header states what they hold; returns the number of tokens."""
        for file in (self._ids, self._offsets):
            file.flush()
            os.fsync(file.fileno())
        return self.tokens


def header(
    rows: int, tokens: Sequence[int], vocabulary: int, fingerprint: str, size: int | None = None
) -> dict[str, Any]:
    """The header of a store; `size` is the number of bytes of its text, where it was counted."""
    return {
        "version": VERSION,
        "rows": rows,
        "tokens": list(tokens),
        "dtype": id_type(vocabulary).str,
        "vocabulary": vocabulary,
        "fingerprint": fingerprint,
        **({} if size is None else {"bytes": size}),
    }


def write_header(path: Path, contents: dict[str, Any]) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(json.dumps(contents, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def side_files(side: int) -> tuple[str, str]:
    return f"side-{side}.ids", f"side-{side}.offsets"


def id_type(vocabulary: int) -> np.dtype[Any]:
    """The smallest unsigned little-endian type that holds every id."""
    if vocabulary < 1:
        raise ValueError(f"a vocabulary of {vocabulary} is not allowed; it takes at least one token")
    return np.dtype("<u1" if vocabulary <= 1 << 8 else "<u2" if vocabulary <= 1 << 16 else "<u4")
