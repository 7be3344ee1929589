"""What attention layers remember of the text before: Transformer-XL's recurrence from segment to segment."""

from __future__ import annotations

import torch
from torch import Tensor


class Past:
    """States (B, M, D) that each attention layer read before, at most `length` of them, by the layer's name.

    A layer makes keys and values of them with its weights of today, so that those learn from them; no gradient goes
    further back. One pass of a model reads a segment and moves the memory on. `keep` (B, M) tells which of them are
    real, None for all. Dai et al. 2019, arXiv:1901.02860, section 3.2.
    """

    def __init__(self, length: int) -> None:
        if length < 1:
            raise ValueError(f"a memory of {length} tokens is not allowed; it takes at least 1")
        self.length = length
        self.states: dict[str, Tensor] = {}
        self.keep: Tensor | None = None
        self._next: dict[str, Tensor] = {}

    @property
    def size(self) -> int:
        """How many columns are remembered now."""
        return next((states.shape[1] for states in self.states.values()), 0)

    def before(self, name: str, x: Tensor) -> Tensor | None:
        """What a layer read before, None at first; what it reads now, x (B, T, D), is remembered for the next pass."""
        known = self.states.get(name)
        whole = x if known is None else torch.cat([known, x], 1)
        self._next[name] = whole[:, -self.length :].detach()
        return known

    def keys(self, keep: Tensor | None, like: Tensor) -> Tensor | None:
        """(B, M + T): which columns are real, of those remembered and of the new ones `like` (B, T); None for all."""
        if keep is None and self.keep is None:
            return None
        batch, length = like.shape[:2]
        old = like.new_ones(batch, self.size, dtype=torch.bool) if self.keep is None else self.keep
        new = like.new_ones(batch, length, dtype=torch.bool) if keep is None else keep
        return torch.cat([old, new], 1)

    def move_on(self, keys: Tensor | None) -> None:
        """At the end of a pass, with the columns that were real in it."""
        self.states, self._next = self._next, {}
        self.keep = None if keys is None else keys[:, -self.length :]

    def select(self, rows: Tensor) -> Past:
        """Keep these rows of the batch, in this order."""
        self.states = {name: states.index_select(0, rows) for name, states in self.states.items()}
        self.keep = None if self.keep is None else self.keep.index_select(0, rows)
        return self
