"""What attention layers remember of the text before: Transformer-XL's recurrence from segment to segment."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.nn.call.cache import Cache, Project
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask, positions_of


class Past(Cache):
    """States (B, M, D) that each attention layer read before, at most `length` of them, by the layer's name.

    A layer makes keys and values of them with its weights of today, so that those learn from them; no gradient goes
    further back. One pass of a model reads a segment and moves the memory on. `keep` (B, M) tells which of them are
    real, None for all. Dai et al. 2019, arXiv:1901.02860, section 3.2.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
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

    def geometry(self, like: Tensor, mask: Mask) -> Geometry:
        """Of a batch `like` (B, T, …) behind what is remembered, all of which can be seen."""
        if mask.documents is not None:
            raise ValueError("a mask has documents, or a memory of the text before: a row of several texts has none")
        known, length = self.size, like.shape[1]
        keys = self._keys(mask.keys, like)
        positions = torch.arange(known + length, device=like.device) if keys is None else positions_of(keys)
        pairs = None if mask.pairs is None else F.pad(mask.pairs, (known, 0), value=True)
        mask = replace(mask, keys=keys, pairs=pairs)
        return Geometry(mask, positions[..., known:], positions, known + length)

    def _keys(self, keep: Tensor | None, like: Tensor) -> Tensor | None:
        """(B, M + T): which columns are real, of those remembered and of the new ones `like` (B, T); None for all."""
        if keep is None and self.keep is None:
            return None
        batch, length = like.shape[:2]
        old = like.new_ones(batch, self.size, dtype=torch.bool) if self.keep is None else self.keep
        new = like.new_ones(batch, length, dtype=torch.bool) if keep is None else keep
        return torch.cat([old, new], 1)

    def extend(
        self, name: str, k: Tensor, v: Tensor, x: Tensor, geometry: Geometry, project: Project
    ) -> tuple[Tensor, Tensor]:
        """With keys and values of what the layer read before in front; what it reads now is for the next pass."""
        known = self.states.get(name)
        whole = x if known is None else torch.cat([known, x], 1)
        self._next[name] = whole[:, -self.length :].detach()
        if known is None:
            return k, v
        earlier = geometry.once(
            "earlier", lambda: replace(geometry, query_positions=geometry.key_positions[..., : self.size])
        )
        old_k, old_v = project(known, earlier)
        return torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)

    def held(self, name: str) -> None:
        """Recurrent layers begin anew with each segment."""

    def hold(self, name: str, *tensors: Tensor) -> None:
        """So nothing of theirs is kept."""

    def move_on(self, geometry: Geometry) -> None:
        """At the end of a pass over a sequence of this geometry."""
        self.states, self._next = self._next, {}
        self.keep = None if geometry.mask.keys is None else geometry.mask.keys[:, -self.length :]

    def select(self, rows: Tensor, sources: Tensor | None = None) -> None:
        """Keep these rows of the batch, in this order."""
        self.states = {name: states.index_select(0, rows) for name, states in self.states.items()}
        self.keep = None if self.keep is None else self.keep.index_select(0, rows)
