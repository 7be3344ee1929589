"""Windows of one long stream of tokens: which stretches of it are trained on together, in which epoch."""

from __future__ import annotations

import numpy as np

from regard.data.batches import Batches, Indices
from regard.errors import DataError


class Windows(Batches):
    """Cuts a stream into windows of one length; an epoch gives the places where they begin.

    Each epoch begins to cut at another place, so that the borders of windows move; which place follows
    from the seed and the number of the epoch alone, as the order does. What is left at the two ends waits for another
    epoch.
    """

    def __init__(self, tokens: int, length: int, budget: int, seed: int) -> None:
        if tokens < length:
            raise DataError(
                f"the training text has {tokens:,} tokens, less than a context of {length:,}: give more text, "
                "or a shorter --context"
            )
        if budget < length:
            raise DataError(
                f"a batch of {budget:,} tokens holds no context of {length:,}: raise --batch-tokens or lower --context"
            )
        self.tokens, self.length = tokens, length
        super().__init__([np.full(tokens // length, length, dtype=np.int32)], budget, seed)

    def padding(self, epoch: int = 0) -> float:
        return 0.0

    def _make(self, n: int) -> list[Indices]:
        random = np.random.default_rng([self.seed, n])
        last = self.tokens - self.length  # where a window may still begin
        offset = int(random.integers(min(self.length - 1, last) + 1))
        starts = np.arange(offset, last + 1, self.length, dtype=np.int64)
        random.shuffle(starts)
        rows = self.budget // self.length
        return [starts[i : i + rows] for i in range(0, len(starts), rows)]
