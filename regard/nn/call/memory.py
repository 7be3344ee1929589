"""What an encoder hands to a decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.nn.call.cache import unchanged
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask


@dataclass
class Memory:
    """What an encoder hands to a decoder: states (B, S, D), which of them are real (B, S), None for all, and where they
    stand (S,) or (B, S), None for one after the other.

    It may have fewer rows than the decoder's batch: each then serves as many consecutive ones, the beams of a sentence.
    `summary` (B, D) is one vector for the whole source, where the encoder makes one. `places` (S, D) or (B, S, D) are
    added to the states of which keys are made, not values, where positions enter every layer.
    """

    states: Tensor
    keep: Tensor | None = None
    summary: Tensor | None = None
    positions: Tensor | None = None
    places: Tensor | None = None

    @classmethod
    def at(cls, states: Tensor, geometry: Geometry) -> Memory:
        """Of the states in which an encoder left a sequence of this geometry."""
        keep = geometry.mask.keys  # of what was remembered too, in front of them
        return cls(states, None if keep is None else keep[:, -states.shape[1] :], positions=geometry.query_positions)

    def select(self, rows: Tensor) -> Memory:
        if unchanged(rows, len(self.states)):
            return self

        def chosen(part: Tensor | None) -> Tensor | None:
            return None if part is None else part.index_select(0, rows)

        positions = self.positions if self.positions is None or self.positions.dim() == 1 else chosen(self.positions)
        places = self.places if self.places is None or self.places.dim() == 2 else chosen(self.places)
        return Memory(self.states.index_select(0, rows), chosen(self.keep), chosen(self.summary), positions, places)

    def seen_by(self, geometry: Geometry) -> Geometry:
        """Of queries with this geometry that attend to the memory; made once for all layers."""
        known: tuple[Memory | None, Geometry] = geometry.memo.get("memory", (None, geometry))
        if known[0] is self:
            return known[1]
        positions = self.positions
        if positions is None:
            positions = torch.arange(self.states.shape[1], device=self.states.device)
        seen = replace(geometry, mask=Mask(keys=self.keep), key_positions=positions, asking=0, facts={})
        geometry.memo["memory"] = self, seen
        return seen
