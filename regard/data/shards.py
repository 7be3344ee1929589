"""Texts in shards: some megabytes that one process tokenizes together.

Where a shard ends follows from the texts alone, and rows are made of one shard after the other, so that the result is
the same however many processes there are, and however often the work was stopped and continued.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHARD_CHARACTERS = 1 << 22

LENGTH = np.dtype("<i8")
Ids = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Shard:
    """Texts of a stream, and None where one document ends. `fresh` tells whether it begins with a document; else it
    goes on with the one before."""

    number: int
    fresh: bool
    texts: Sequence[str | None]

    @cached_property
    def message(self) -> bytes:
        """The texts as bytes: their number, their lengths, then the texts."""
        return packed([text.encode("utf-8") for text in self.texts if text is not None])

    @cached_property
    def mark(self) -> str:
        """A hash by which the shard is recognised."""
        gaps = np.array([place for place, text in enumerate(self.texts) if text is None], dtype=LENGTH)
        return hashlib.blake2b(self.message + gaps.tobytes(), digest_size=16).hexdigest()

    @property
    def size(self) -> int:
        """The size of its texts in bytes of UTF-8."""
        return len(self.message) - LENGTH.itemsize * (1 + sum(text is not None for text in self.texts))


@dataclass(frozen=True)
class TokenShard:
    """A shard with the ids of each text in its place; its mark and size are those of the texts."""

    number: int
    fresh: bool
    mark: str
    size: int
    texts: Sequence[Ids | None]


def shards(stream: Iterable[str | None], group: int = 1, least: int | None = None) -> Iterator[Shard]:
    """A stream of texts, None where a document ends, in shards of at least `least` characters; the last has fewer. The
    texts of a `group`, such as the two of a pair, stay together."""
    least = least or SHARD_CHARACTERS
    texts: list[str | None] = []
    number, fresh, size = 0, True, 0
    for text in stream:
        texts.append(text)
        size += len(text or "")
        if size >= least and len(texts) % group == 0:
            yield Shard(number, fresh, texts)
            number, fresh, texts, size = number + 1, text is None, [], 0
    if texts:
        yield Shard(number, fresh, texts)


# --- as bytes ---------------------------------------------------------------------------------------------------------


def packed(texts: Sequence[bytes]) -> bytes:
    lengths = np.array([len(texts), *map(len, texts)], dtype=LENGTH)
    return b"".join((lengths.tobytes(), *texts))


def unpacked(message: bytes) -> list[bytes]:
    count = int(np.frombuffer(message, LENGTH, 1)[0])
    head = (count + 1) * LENGTH.itemsize
    ends = (head + np.cumsum(np.frombuffer(message, LENGTH, count, LENGTH.itemsize))).tolist()
    return [message[start:end] for start, end in zip([head, *ends], ends, strict=False)]
