"""Token ids on disk, memory-mapped, so that a corpus larger than memory trains.

A store is a folder: for each side of the corpus (source, target) one flat file of ids and one of the places where rows
begin, and a header that is written last and says how large they must be. A folder without a header, or whose files
have other sizes, is not a store. Rows are written as a stream, and what reading maps is handed back to the system as it
goes, so that resident memory hardly grows with the corpus: ten million pairs take some 0.6 GiB.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.store_files import OFFSET, VERSION, SideWriter, header, side_files, write_header
from regard.errors import DataError, writing

HEADER = "store.json"
CHUNK_TOKENS = 1 << 18
# A row that is touched maps some 70 KiB around it, and mapping is what reading costs: a small file stays mapped, of a
# large one everything is given back after so many rows.
KEEP_MAPPED_BYTES = 1 << 28
RELEASE_ROWS = 1_024
LENGTHS_AT_ONCE = 1 << 20


def write_store(
    folder: str | os.PathLike[str],
    rows: Iterable[Sequence[Sequence[int]]],
    vocabulary: int,
    sides: int = 2,
    fingerprint: str = "",
) -> Store:
    """Write rows, each a sequence of ids per side, as they come; ids are stored as small as the vocabulary allows.

    The files are written beside and renamed, the header last: whatever happens, the folder then holds the old store,
    the new one or none. `fingerprint` says what the ids mean, usually with which tokenizer they were made.
    """
    folder = Path(folder)
    with writing(folder):
        return _write_store(folder, rows, vocabulary, sides, fingerprint)


def _write_store(
    folder: Path, rows: Iterable[Sequence[Sequence[int]]], vocabulary: int, sides: int, fingerprint: str
) -> Store:
    folder.mkdir(parents=True, exist_ok=True)
    parts = {name: folder / f"{name}.part" for side in range(sides) for name in side_files(side)}
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts.values()]
            writers = [SideWriter(files[2 * side], files[2 * side + 1], vocabulary, side) for side in range(sides)]
            count = _write_rows(rows, writers)
            tokens = [writer.to_disk() for writer in writers]
        (folder / HEADER).unlink(missing_ok=True)  # from here on the old store is gone
        for name, part in parts.items():
            part.replace(folder / name)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    write_header(folder / HEADER, header(count, tokens, vocabulary, fingerprint))
    return Store.open(folder)


class Store:
    """Rows of token ids on disk. `rows` gives views of the mapped file: they are read-only and cost no copy."""

    def __init__(self, folder: Path, contents: dict[str, Any]) -> None:
        self.folder = folder
        self.vocabulary = int(contents["vocabulary"])
        self.fingerprint = str(contents["fingerprint"])
        self.size: int | None = contents.get("bytes")  # of the text; None where it was not counted
        self._rows = int(contents["rows"])
        dtype = np.dtype(contents["dtype"])
        self._sides = [_Side(folder, side, self._rows, count, dtype) for side, count in enumerate(contents["tokens"])]

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Map a store that was written whole; `DataError` where it was not."""
        folder = Path(folder)
        path = folder / HEADER
        if not path.is_file():
            raise DataError(f"{folder} holds no whole token store ({HEADER} is missing); prepare the data again")
        try:
            contents = json.loads(path.read_text(encoding="utf-8"))
            version = contents["version"]
            if version != VERSION:
                raise DataError(f"{path}: version {version} is not {VERSION}, which is read; prepare the data again")
            return cls(folder, contents)
        except (KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not the header of a token store ({error!r}); prepare the data again") from None

    def __len__(self) -> int:
        return self._rows

    @property
    def sides(self) -> int:
        """How many sequences a row has: two for pairs of sentences."""
        return len(self._sides)

    def tokens(self, side: int) -> int:
        """The number of ids on a side, all rows together."""
        return self._sides[side].tokens

    def stream(self, side: int) -> NDArray[np.unsignedinteger[Any]]:
        """All ids of a side as one row, mapped: nothing is read before it is looked at."""
        return self._sides[side].stream

    def lengths(self, side: int) -> NDArray[np.int32]:
        """The length of every row, in memory: four bytes a row."""
        return self._sides[side].lengths()

    def rows(
        self, side: int, indices: Sequence[int] | NDArray[np.integer[Any]]
    ) -> list[NDArray[np.unsignedinteger[Any]]]:
        """The ids of these rows, in this order."""
        return self._sides[side].rows(np.asarray(indices, dtype=np.int64))

    def windows(
        self, side: int, starts: Sequence[int] | NDArray[np.integer[Any]], length: int
    ) -> NDArray[np.unsignedinteger[Any]]:
        """(windows, length): `length` ids from each of these places on, as if all rows were one."""
        return self._sides[side].windows(np.asarray(starts, dtype=np.int64), length)


class _Side:
    """One side of a store: a mapped file of ids and one of offsets, row i being ids[offsets[i]:offsets[i + 1]]."""

    def __init__(self, folder: Path, side: int, rows: int, tokens: int, dtype: np.dtype[Any]) -> None:
        ids, offsets = (folder / name for name in side_files(side))
        self.tokens = tokens
        self._ids = _Mapped(ids, tokens, dtype)
        self._offsets = _Mapped(offsets, rows + 1, OFFSET)
        self._touched = 0

    @property
    def stream(self) -> NDArray[Any]:
        return self._ids.array

    def lengths(self) -> NDArray[np.int32]:
        offsets = self._offsets.array
        lengths = np.empty(len(offsets) - 1, dtype=np.int32)
        for start in range(0, len(lengths), LENGTHS_AT_ONCE):
            end = min(start + LENGTHS_AT_ONCE, len(lengths))
            lengths[start:end] = np.diff(offsets[start : end + 1])
        self._offsets.release()
        return lengths

    def rows(self, indices: NDArray[np.int64]) -> list[NDArray[Any]]:
        rows = len(self._offsets.array) - 1
        if len(indices) and (indices.min() < 0 or indices.max() >= rows):
            raise IndexError(f"rows {indices.min()} to {indices.max()} are asked of a store of {rows}")
        self._touch(len(indices))
        starts, ends = self._offsets.array[indices].tolist(), self._offsets.array[indices + 1].tolist()
        ids = self._ids.array
        return [ids[start:end] for start, end in zip(starts, ends, strict=True)]

    def windows(self, starts: NDArray[np.int64], length: int) -> NDArray[Any]:
        if len(starts) and (starts.min() < 0 or starts.max() + length > self.tokens):
            raise IndexError(f"windows at {starts.min()} to {starts.max()} leave a side of {self.tokens} tokens")
        self._touch(len(starts))
        found: NDArray[Any] = self._ids.array[starts[:, None] + np.arange(length)]
        return found

    def _touch(self, rows: int) -> None:
        self._touched += rows
        if self._touched > RELEASE_ROWS:
            self._touched = rows
            self._ids.release()


class _Mapped:
    """A file of numbers as an array, without reading it."""

    def __init__(self, path: Path, count: int, dtype: np.dtype[Any]) -> None:
        expected = count * dtype.itemsize
        if not path.is_file():
            raise DataError(f"{path} is missing, which {HEADER} promises; prepare the data again")
        size = path.stat().st_size
        if size != expected:
            raise DataError(f"{path} has {size:,} bytes instead of {expected:,}; prepare the data again")
        self._map: mmap.mmap | None = None
        buffer: Any = b""
        if size:  # an empty file cannot be mapped
            with path.open("rb") as file:
                buffer = self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.array: NDArray[Any] = np.frombuffer(buffer, dtype=dtype)

    def release(self) -> None:
        """Give the pages of a large file back; the next use maps them again, mostly from the system's cache."""
        if self._map is not None and len(self._map) > KEEP_MAPPED_BYTES and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _write_rows(rows: Iterable[Sequence[Sequence[int]]], writers: Sequence[SideWriter]) -> int:
    chunk: list[Sequence[Sequence[int]]] = []
    waiting = 0
    for number, row in enumerate(rows):
        if len(row) != len(writers):
            raise ValueError(f"row {number} has {len(row)} sides; the store has {len(writers)}")
        chunk.append(row)
        waiting += sum(map(len, row)) + 1
        if waiting >= CHUNK_TOKENS:
            _write_chunk(chunk, writers)
            chunk, waiting = [], 0
    _write_chunk(chunk, writers)
    return writers[0].rows


def _write_chunk(chunk: Sequence[Sequence[Sequence[int]]], writers: Sequence[SideWriter]) -> None:
    for side, writer in enumerate(writers):
        writer.write([row[side] for row in chunk])
