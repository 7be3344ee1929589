"""An index of the lines of a file by their vectors, on disk: made once, then only mapped into memory.

A folder with `vectors.bin` (lines, width) in single or half precision, `starts.bin`, where in the file each line
begins, `numbers.bin`, which line of the file it is (empty ones are left out), and `index.json`, written last, which
says of which file and of which model it is. Search is exact: all vectors are compared, block by block.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from regard.checkpoint import weights_of
from regard.data.files import existing
from regard.errors import DataError, writing
from regard.results import Result
from regard.runfolder import RunError, read_json, write_text
from regard.tasks.vectors.embedding import Embedder, Vectors

HEADER, VECTORS, STARTS, NUMBERS = "index.json", "vectors.bin", "starts.bin", "numbers.bin"
PARTS = {HEADER, VECTORS, STARTS, NUMBERS}
VERSION = 1
LINES_A_CHUNK = 8_192  # lines that are embedded together
VALUES_A_BLOCK = 1 << 22  # values that are compared at a time: 16 MiB in single precision
MARKED_BYTES = 1 << 16  # bytes from each end of a file that its mark is made of, beside its size and time

Precision = Literal["float32", "float16"]


@dataclass(frozen=True)
class Found(Result):
    """A line of the file, counted from 1, and the cosine of its vector to that of the query."""

    number: int
    text: str
    score: float

    def line(self, scores: bool = True) -> str:
        return f"{self.score:.4f}\t{self.number}\t{self.text}"

    def record(self) -> dict[str, Any]:
        return {"score": self.score, "line": self.number, "text": self.text}


class Index:
    """The vectors of a file's lines; `nearest` compares with all of them."""

    def __init__(self, folder: Path, lines: Path, header: dict[str, Any]) -> None:
        self.lines = lines
        count, width = int(header["lines"]), int(header["width"])
        self.vectors = mapped(folder / VECTORS, np.dtype(header["precision"]), (count, width))
        self.starts = mapped(folder / STARTS, np.dtype("<i8"), (count,))
        self.numbers = mapped(folder / NUMBERS, np.dtype("<i8"), (count,))

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Vectors, count: int) -> list[list[Found]]:
        """The lines nearest to each of the queries (Q, width), which have length 1, the nearest first."""
        count, asked = min(count, len(self)), torch.from_numpy(np.ascontiguousarray(queries, dtype=np.float32))
        rows = max(1, VALUES_A_BLOCK // max(self.vectors.shape[1], len(queries)))
        scores, places = torch.empty(len(queries), 0), torch.empty(len(queries), 0, dtype=torch.long)
        for start in range(0, len(self), rows):
            near = asked @ torch.from_numpy(self.vectors[start : start + rows]).float().t()  # (Q, rows)
            best, which = near.topk(min(count, near.shape[1]), dim=1)
            scores, places = torch.cat([scores, best], 1), torch.cat([places, which + start], 1)
            scores, order = scores.sort(dim=1, descending=True, stable=True)  # of equally near ones the earlier
            scores, places = scores[:, :count], places.gather(1, order)[:, :count]
        return [self.found(*row) for row in zip(places.tolist(), scores.tolist(), strict=True)]

    def found(self, places: Sequence[int], scores: Sequence[float]) -> list[Found]:
        with self.lines.open("rb") as file:
            texts = []
            for place in places:
                file.seek(int(self.starts[place]))
                texts.append(file.readline().decode("utf-8").strip())
        numbers = [int(self.numbers[place]) for place in places]
        return [Found(*one) for one in zip(numbers, texts, scores, strict=True)]


def mapped(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A file of numbers without reading it."""
    expected = int(np.prod(shape)) * dtype.itemsize
    if not path.is_file() or path.stat().st_size != expected:
        raise RunError(f"{path} is missing or cut off; remove {path.parent} and the index is made anew")
    return np.memmap(path, dtype, "c", shape=shape)  # as if it could be written, which torch asks for


# --- making one -------------------------------------------------------------------------------------------------------


def open_index(
    folder: Path,
    lines: Path,
    embedder: Embedder,
    precision: Precision = "float32",
    say: Callable[[str], None] = lambda text: None,
    done: Callable[[int], None] | None = None,
    make: bool = True,
) -> Index:
    """The index of a file, as it is where it belongs to this file and model; else it is made anew, or refused where it
    may not be made. A folder that is no index is never touched."""
    lines = existing(lines)
    if lines.suffix == ".gz":
        raise DataError(f"{lines}: lines of a gzipped file cannot be looked up; unpack it first")
    if folder.exists() and any(folder.iterdir()) and not is_index(folder):
        raise RunError(f"{folder} is a folder of other files, not an index; name another with --index")
    marks = {"file": mark_of(lines), "model": mark_of_model(embedder)}
    if (folder / HEADER).exists():
        header = read_json(folder / HEADER)
        other = [name for name, mark in marks.items() if header.get(name) != mark]
        if not other and header.get("version") == VERSION:
            return Index(folder, lines, header)
        reason = f"{folder} is the index of another {' and '.join(other) or 'version'}"
        if not make:
            raise RunError(f"{reason}; make it anew without --reuse, or name another with --index")
        say(f"{reason}: it is made anew")
    elif not make:
        raise RunError(f"{folder} holds no index yet; make it without --reuse")
    with writing(folder):
        return write_index(folder, lines, embedder, precision, marks, say, done)


def is_index(folder: Path) -> bool:
    """Whether a folder holds an index and nothing else: it may be replaced."""
    if not (folder / HEADER).is_file() or not {path.name for path in folder.iterdir()} <= PARTS:
        return False
    return {"version", "lines", "width", "precision"} <= read_json(folder / HEADER).keys()


def write_index(
    folder: Path,
    lines: Path,
    embedder: Embedder,
    precision: Precision,
    marks: dict[str, str],
    say: Callable[[str], None],
    done: Callable[[int], None] | None,
) -> Index:
    """Embed all lines, a chunk at a time; the header is written last, so that half an index is none."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    count = 0
    try:
        with ExitStack() as stack:
            vectors, starts, numbers = (
                stack.enter_context((beside / name).open("wb")) for name in (VECTORS, STARTS, NUMBERS)
            )
            rest = filled_lines(lines)
            while chunk := list(itertools.islice(rest, LINES_A_CHUNK)):
                found = embedder([text for _, _, text in chunk], say=say, done=done)
                vectors.write(np.ascontiguousarray(found, dtype=precision).tobytes())
                starts.write(np.array([start for start, _, _ in chunk], dtype="<i8").tobytes())
                numbers.write(np.array([number for _, number, _ in chunk], dtype="<i8").tobytes())
                count += len(chunk)
        if not count:
            raise DataError(f"{lines}: no text (all lines are empty)")
        header = {"version": VERSION, "lines": count, "width": embedder.width, "precision": precision, **marks}
        write_text(beside / HEADER, json.dumps(header, indent=2) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
        beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    say(f"{count:,} lines in the index {folder}")
    return Index(folder, lines, header)


def filled_lines(path: Path) -> Iterator[tuple[int, int, str]]:
    """(where it begins in bytes, its number, its text) of each line that is not empty."""
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8").strip()
            except UnicodeDecodeError:
                raise DataError(f"{path}, line {number}: not valid UTF-8; save it as UTF-8") from None
            if text:
                yield start, number, text
            start += len(line)


def mark_of(path: Path) -> str:
    """A short hash of a file's size, time and both ends: a million lines need not be read to know them again."""
    about = path.stat()
    digest = hashlib.sha256(f"{about.st_size} {about.st_mtime_ns}".encode())
    with path.open("rb") as file:
        digest.update(file.read(MARKED_BYTES))
        file.seek(max(0, about.st_size - MARKED_BYTES))
        digest.update(file.read(MARKED_BYTES))
    return digest.hexdigest()[:16]


def mark_of_model(embedder: Embedder) -> str:
    """A short hash of the weights, the tokenizer and the way to pool."""
    digest = hashlib.sha256(f"{embedder.tokenizer.fingerprint} {embedder.pool} {embedder.longest}".encode())
    for name, weight in weights_of(embedder.model).items():
        digest.update(name.encode())
        digest.update(weight.float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
