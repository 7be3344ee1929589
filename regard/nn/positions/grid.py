"""Positions in a picture: rows and columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import Count, Positive, Size
from regard.errors import Error
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.linear import VectorTable
from regard.nn.positions.absolute import sinusoids
from regard.nn.positions.base import HeadDims, Position, PositionConfig

GRID = "grid"  # the fact of a geometry: (rows, columns) of the cells that stand behind the leading tokens


@dataclass(frozen=True)
class LearnedGrid(PositionConfig, kind="learned-grid"):
    """A learned vector per cell of a grid of `rows` × `columns`, and for each of the `leading` tokens in front of it,
    such as a class token. A picture with another grid takes vectors between those of the cells (bicubic), as
    Dosovitskiy et al. 2021 (arXiv:2010.11929) do for larger pictures. In a text it is a table of places.
    """

    rows: Size = 14
    columns: Size = 14
    leading: Count = 1

    def build(self, dims: HeadDims) -> Position:
        return LearnedGridPosition(self, dims.width)


class LearnedGridPosition(Position):
    def __init__(self, config: LearnedGrid, width: int) -> None:
        super().__init__()
        self.rows, self.columns, self.leading = config.rows, config.columns, config.leading
        self.table = VectorTable(config.leading + config.rows * config.columns, width)

    def embed(self, x: Tensor, context: Context) -> Tensor:
        return x + self.vectors(context.geometry)

    def vectors(self, geometry: Geometry) -> Tensor:
        found: Tensor
        if geometry.facts.get(GRID, (self.rows, self.columns)) == (self.rows, self.columns):
            count = self.table.num_embeddings
            if geometry.reach > count and int(geometry.query_positions.max()) >= count:
                raise Error(f"a sequence of {geometry.reach} tokens is longer than the {count} places of the table")
            found = self.table(geometry.query_positions)
            return found
        cells = self.table.weight[self.leading :].T.view(1, -1, self.rows, self.columns)
        spread = F.interpolate(cells, geometry.facts[GRID], mode="bicubic", align_corners=False)
        every = torch.cat([self.table.weight[: self.leading], spread.flatten(2)[0].T])
        return every[geometry.query_positions]


@dataclass(frozen=True)
class SinusoidalGrid(PositionConfig, kind="sinusoidal-grid"):
    """Half of the width says the row by sines and cosines, the other half the column; nothing to learn, any size.
    In a text every token stands in one row. Parmar et al. 2018, arXiv:1802.05751.

    join: "add" to the embedding, or "qk": to what queries and keys are made of in every layer, as Carion et al. 2020
    (arXiv:2005.12872) do. Where `whole`, the sides of the picture are 2π, however many cells they have. The slowest
    wave is `base` times as long as the quickest.
    """

    leading: Count = 0
    join: Literal["add", "qk"] = "add"
    whole: bool = False
    base: Positive = 10_000.0

    def build(self, dims: HeadDims) -> Position:
        return SinusoidalGridPosition(self, dims.width)


class SinusoidalGridPosition(Position):
    def __init__(self, config: SinusoidalGrid, width: int) -> None:
        super().__init__()
        self.config, self.width = config, width

    def embed(self, x: Tensor, context: Context) -> Tensor:
        return x + self.vectors(context.geometry).to(x.dtype) if self.config.join == "add" else x

    def beside(self, context: Context) -> Tensor | None:
        if self.config.join == "add":
            return None
        return context.geometry.once(("places", id(self)), lambda: self.vectors(context.geometry))

    def vectors(self, geometry: Geometry) -> Tensor:
        """(T, D) or (B, T, D), in double precision; zeros for leading tokens."""
        rows, columns = geometry.facts.get(GRID, (1, geometry.reach))
        cells = geometry.query_positions - self.config.leading
        row, column = cells.div(columns, rounding_mode="floor"), cells % columns
        half, base = self.width // 2, self.config.base
        down, right = (share(row, rows), share(column, columns)) if self.config.whole else (row, column)
        places = torch.cat([sinusoids(down, half, base=base), sinusoids(right, self.width - half, base=base)], -1)
        return places.masked_fill((cells < 0).unsqueeze(-1), 0)


def share(places: Tensor, count: int) -> Tensor:
    """Where each of so many cells ends, as a share of 2π."""
    return (places + 1) * (2 * math.pi / count)
