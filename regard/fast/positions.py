"""Sinusoids that are computed once."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.nn.call.geometry import Geometry
from regard.nn.positions.absolute import SinusoidalPosition, sinusoids

MIN_PLACES = 64  # of a table


class FastSinusoidalPosition(SinusoidalPosition):
    """Keeps the table of the places met so far, since it never changes.

    It is no buffer: those follow a model to other devices and precisions, and what was rounded on the way, or has lost
    its storage, would look like the table of the device and precision in which it arrives.
    """

    table: Tensor | None = None

    def vectors(self, geometry: Geometry, like: Tensor) -> Tensor:
        table, reach = self.table, geometry.reach
        known = 0 if table is None else len(table)
        if table is None or reach > known or table.dtype != like.dtype or table.device != like.device:
            with torch.inference_mode(False):  # it stays, and may be trained with
                places = torch.arange(max(reach, 2 * known, MIN_PLACES), device="cpu")
                table = sinusoids(places, self.width, self.layout, self.base).to(like.device, like.dtype)
            self.table = table
        return table[geometry.query_positions]
