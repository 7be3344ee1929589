"""Reading `metrics.jsonl` while it grows, without torch: the newest of it, and what is new since last time."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

Record = dict[str, Any]
BLOCK_BYTES = 1 << 16
SEARCHED_BYTES = 1 << 22  # from the end of the file, for the newest validation
MAX_READ_BYTES = 1 << 25  # in one answer
MAX_RECORDS = 1000  # in one answer


@dataclass(frozen=True)
class Newest:
    """The end of a file of records: the last one of all, the last validation, the longest time between two."""

    last: Record | None = None
    validation: Record | None = None
    gap: float = 0.0


def newest(path: Path) -> Newest:
    size = path.stat().st_size
    start, records = size, list[Record]()
    while start > 0 and size - start < SEARCHED_BYTES and not any(map(is_validation, records)):
        start = max(0, start - BLOCK_BYTES * max(1, (size - start) // BLOCK_BYTES))
        with path.open("rb") as file:
            file.seek(start)
            block = file.read(size - start)
        lines = block.split(b"\n")
        records = list(parsed(lines if start == 0 else lines[1:]))
    times = [record["seconds"] for record in records if is_number(record.get("seconds"))]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    validations = [record for record in records if is_validation(record)]
    return Newest(records[-1] if records else None, validations[-1] if validations else None, max(gaps, default=0.0))


@dataclass(frozen=True)
class News:
    """Records, and up to which byte the file was read; `restarted` where it is not the file it was."""

    records: list[Record]
    next: int
    restarted: bool


def news(path: Path, after: int) -> News:
    """What stands after so many bytes, thinned where it is much. A run that is resumed writes its file anew."""
    if not path.is_file():
        return News([], 0, after > 0)
    with path.open("rb") as file:
        restarted = after > path.stat().st_size or not ends_a_line(file, after)
        start = 0 if restarted else after
        file.seek(start)
        block = file.read(MAX_READ_BYTES)
    whole = block[: block.rfind(b"\n") + 1]
    records = list(parsed(whole.split(b"\n")))
    return News(thinned(records), start + len(whole), restarted)


def ends_a_line(file: BinaryIO, place: int) -> bool:
    """Whether a line ends before this byte, or the file begins there."""
    file.seek(max(place - 1, 0))
    return place == 0 or file.read(1) == b"\n"


def thinned(records: list[Record], most: int = MAX_RECORDS) -> list[Record]:
    """At most `most` records with the first and the last. Steps are left out first, rarer events last."""
    steps = [i for i, record in enumerate(records) if record.get("event") == "step"]
    others = sorted(set(range(len(records))) - set(steps))
    others = even(others, most // 2) if len(records) > most else others
    kept = sorted(others + even(steps, most - len(others)))
    return [records[i] for i in kept]


def even(items: list[int], most: int) -> list[int]:
    """At most `most` of them, evenly spaced, with both ends."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def parsed(lines: list[bytes]) -> Iterator[Record]:
    """The records of whole lines; a line that is being written or was cut off by a crash is left out."""
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("step"), int):
            yield tidy(record)


def tidy(value: Any) -> Any:
    """JSON that any reader takes: no NaN or infinity, no half of a character."""
    if isinstance(value, dict):
        return {tidy(key): tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tidy(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def is_validation(record: Record) -> bool:
    return record.get("event") == "validation" and isinstance(record.get("metrics"), dict)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
