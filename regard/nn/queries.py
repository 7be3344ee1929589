"""What a detector asks a picture: vectors each of which looks for one thing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part, Positive, Size
from regard.nn.initialised import Initialised
from regard.nn.linear import Linear, VectorTable
from regard.nn.positions.absolute import sinusoids

FIRST_SIZE = 0.25  # of boxes at first, as a share of a side


@dataclass(frozen=True)
class QueryConfig(Part, family="queries"):
    """So many things at most are found in a picture."""

    count: Size = 100

    def build(self, width: int) -> Queries:
        raise TypeError(f"{type(self).__name__} is a family, not queries")


class Queries(nn.Module):
    """Boxes are centre and size before the sigmoid. Where they are `refined`, each layer of the decoder moves those of
    the one before; otherwise each layer finds them anew."""

    refined = False

    def begin(self) -> tuple[Tensor, Tensor]:
        """The states (Q, D) and boxes (Q, 4) from which the decoder starts."""
        raise TypeError(f"{type(self).__name__} does not say how it begins")

    def places(self, boxes: Tensor) -> Tensor:
        """What a layer adds to the states of queries with such boxes (B, Q, 4): (B, Q, D), or (Q, D) for all."""
        raise TypeError(f"{type(self).__name__} does not say where it looks")


@dataclass(frozen=True)
class LearnedQueries(QueryConfig, kind="learned"):
    """A learned vector each, the same in every layer. Carion et al. 2020, arXiv:2005.12872."""

    def build(self, width: int) -> Queries:
        return QueryTable(self.count, width)


class QueryTable(Queries):
    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.table = VectorTable(count, width)

    def begin(self) -> tuple[Tensor, Tensor]:
        nothing = torch.zeros_like(self.table.weight)
        return nothing, nothing[:, :4]

    def places(self, boxes: Tensor) -> Tensor:
        return self.table.weight


@dataclass(frozen=True)
class AnchorQueries(QueryConfig, kind="anchors"):
    """A learned box each, whose sides tell by sines and cosines where to look, and which every layer moves. Liu et al.
    2022, arXiv:2201.12329, where the slowest wave is `base` times as long as the quickest."""

    count: Size = 16
    base: Positive = 20.0

    def build(self, width: int) -> Queries:
        return AnchorBoxes(self.count, width, self.base)


class AnchorBoxes(Queries):
    refined = True

    def __init__(self, count: int, width: int, base: float) -> None:
        super().__init__()
        self.width, self.base = width, base
        self.table = VectorTable(count, width)
        self.boxes = FirstBoxes(count)
        self.up, self.down = Linear(4 * (width // 2), width), Linear(width, width)

    def begin(self) -> tuple[Tensor, Tensor]:
        return self.table.weight, self.boxes.weight

    def places(self, boxes: Tensor) -> Tensor:
        sides = 2 * math.pi * boxes.sigmoid()[..., [1, 0, 3, 2]]  # row and column as the grid's places have them
        waves = sinusoids(sides, self.width // 2, base=self.base).flatten(-2).to(boxes.dtype)
        found: Tensor = self.down(F.relu(self.up(waves)))
        return found


class FirstBoxes(Initialised, nn.Module):
    """Anywhere in the picture, before anything is learnt."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, 4))
        self.reset_parameters()

    def start(self) -> None:
        centres = torch.rand(len(self.weight), 2, dtype=self.weight.dtype)
        self.weight.copy_(torch.cat([centres, torch.full_like(centres, FIRST_SIZE)], -1).logit(0.05))
