"""What a part costs, as plain numbers, so that a model of any size can be described without running it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shape:
    """The size of one call: `length` queries and `keys` keys in each of `batch` rows; where a decoder attends to a
    memory, that has `memory` tokens."""

    batch: int
    length: int
    keys: int
    memory: int = 0
    made: set[Any] = field(default_factory=set, repr=False, compare=False)

    @property
    def tokens(self) -> int:
        return self.batch * self.length

    def once(self, key: Any, cost: Cost) -> Cost:
        """The cost of what all layers of this shape share: nothing from the second time on."""
        if key in self.made:
            return Cost()
        self.made.add(key)
        return cost


@dataclass(frozen=True)
class Cost:
    """`multiply_adds` of the matrix products of a forward pass; `kept`: 4-byte values kept in training for backward.

    `kept` counts what autograd holds on the CPU in fp32, with dropout as configured and nothing watched. A training
    step multiplies three times as much as a forward pass: each product has two more in its gradient, and one more where
    one of its factors is `constant`, as sinusoids are.
    """

    multiply_adds: int = 0
    kept: int = 0
    constant: int = 0  # those multiply-adds that have a factor which does not learn

    @property
    def training(self) -> int:
        """Multiply-adds of a training step."""
        return 3 * self.multiply_adds - self.constant

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.multiply_adds + other.multiply_adds, self.kept + other.kept, self.constant + other.constant)
