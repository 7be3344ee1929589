"""What `regard.describe` answers: a plain record, which the studio reads without torch."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Description:
    """Plain numbers about a model. Sizes are bytes, `batch` and `length` say what activations are counted for."""

    name: str
    kind: str
    paper: str
    note: str
    published: int | None
    parameters: int
    parts: dict[str, int]
    batch: int
    length: int
    multiply_adds: int
    training_multiply_adds: int
    weight_bytes: dict[str, int]
    activation_bytes: int
    cache_bytes_per_token: int
    memory_bytes_per_source_token: int
    config: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    @property
    def difference(self) -> float | None:
        """How far the exact count is from the published one: 0.01 is one per cent above."""
        return None if self.published is None else self.parameters / self.published - 1

    def rows(self) -> Iterator[tuple[str, str]]:
        """Labels and values as a person reads them; an empty label starts a new group."""
        yield "parameters", f"{self.parameters:,}"
        if self.published is not None and self.difference is not None:
            yield "published", f"{_short(self.published)} ({self.difference:+.1%} here)"
        yield from ((f"  {part}", f"{count:,}  {count / self.parameters:6.1%}") for part, count in self.parts.items())
        yield "", ""
        yield "forward pass", f"{_short(self.multiply_adds)} multiply-adds ({self.batch} × {self.length} tokens)"
        yield "training step", f"{_short(self.training_multiply_adds)} multiply-adds"
        yield "", ""
        yield "weights", ", ".join(f"{_size(size)} {dtype}" for dtype, size in self.weight_bytes.items())
        yield "activations", f"{_size(self.activation_bytes)} kept for a training step in float32"
        if self.cache_bytes_per_token:
            yield "cache", f"{_size(self.cache_bytes_per_token)} per token in float32"
        if self.memory_bytes_per_source_token:
            yield "memory", f"{_size(self.memory_bytes_per_source_token)} per source token in float32"

    def __str__(self) -> str:
        header = [f"{self.name}  ({self.kind})"] + [line for line in (self.paper, self.note) if line]
        return "\n".join(header + [""] + [f"{label:<28}{value}".rstrip() for label, value in self.rows()])


def _short(number: float) -> str:
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:g}"


def _size(number: float) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} B"
