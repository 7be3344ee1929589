"""Transformer-XL's relative positions, and XLNet's relative segments beside them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Rate, Size
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear, normal_
from regard.nn.positions.absolute import sinusoids
from regard.nn.positions.base import HeadDims, Position, PositionConfig
from regard.nn.positions.distance import distances

STD = 0.02  # from which u, v and the vectors of segments start


@dataclass(frozen=True)
class TransformerXL(PositionConfig, kind="transformer-xl"):
    """(q + u)·k + (q + v)·W r, where r are the sinusoids of the distance from key to query. arXiv:1901.02860

    u, v and W belong to a layer, as XLNet has it. Distances beyond `distance` count as that. With `segments` a score
    also has (q + b)·s, where s is one vector for keys of the query's own segment and another for all others: XLNet,
    arXiv:1906.08237, section 2.5. `dropout` falls on the sinusoids.
    """

    distance: Size | None = None
    segments: bool = False
    dropout: Rate = 0.0

    @property
    def shared(self) -> bool:
        return False

    def build(self, dims: HeadDims) -> Position:
        return TransformerXLPosition(dims, self)


class TransformerXLPosition(Position):
    """`place` adds u to the queries; what else is added to them is told from there on, as v - u and b - u."""

    def __init__(self, dims: HeadDims, config: TransformerXL) -> None:
        super().__init__()
        self.dims, self.furthest = dims, config.distance
        self.dropout = Dropout(config.dropout)
        self.turn = Linear(dims.width, dims.heads * dims.key_width, bias=False)
        self.u, self.v = (nn.Parameter(torch.empty(dims.heads, 1, dims.key_width)) for _ in range(2))
        self.b = nn.Parameter(torch.empty(dims.heads, 1, dims.key_width)) if config.segments else None
        self.s = nn.Parameter(torch.empty(dims.heads, 2, dims.key_width)) if config.segments else None
        self.segmented = config.segments
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for parameter in (self.u, self.v, self.b, self.s):
            if parameter is not None:
                normal_(parameter, std=STD)

    def place(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        return q + self.u, k, v

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor:
        geometry = context.geometry
        keys = geometry.once(("distant keys", id(self)), lambda: self.keys(geometry, q))
        scores = paired(by_head((q + (self.v - self.u)) * scale, keys), geometry)
        if self.b is None or self.s is None or "segments" not in geometry.facts:
            return scores
        parts = by_head((q + (self.b - self.u)) * scale, self.s.transpose(-1, -2))  # (B, H, T, 2)
        return scores + torch.where(others(geometry), parts[..., 1:], parts[..., :1])

    def keys(self, geometry: Geometry, like: Tensor) -> Tensor:
        """(H, K, distances): what a query meets at each distance, from the first key back to ahead of the last."""
        waves = geometry.once(("waves", self.dims.width, self.furthest, like.dtype), lambda: self.waves(geometry, like))
        turned: Tensor = self.turn(waves)
        return turned.view(len(turned), self.dims.heads, self.dims.key_width).permute(1, 2, 0)

    def waves(self, geometry: Geometry, like: Tensor) -> Tensor:
        """(distances, D), drawn once for all layers where dropout falls on them."""
        own, keys = own_queries(geometry), geometry.key_positions.shape[-1]
        back = torch.arange(keys - 1, -own - 1, -1, device=like.device)  # query minus key, the first key first
        if self.furthest is not None:
            back = back.clamp(-self.furthest, self.furthest)
        dropped: Tensor = self.dropout(sinusoids(back, self.dims.width, "halves").to(like.dtype))
        return dropped


def by_head(q: Tensor, keys: Tensor) -> Tensor:
    """(B, H, T, K) and (H, K, N) → (B, H, T, N): one product a head, where broadcasting would copy the keys for each
    row of the batch."""
    batch, heads, length, width = q.shape
    found = q.transpose(0, 1).reshape(heads, batch * length, width) @ keys
    return found.view(heads, batch, length, -1).transpose(0, 1)


def paired(by_distance: Tensor, geometry: Geometry) -> Tensor:
    """(B, H, T, distances) → (B, H, T, S): for each pair the score of its distance.

    Where real keys stand side by side, distances are those of columns, and a row is the row above it moved by one: a
    view finds them all. Elsewhere each pair looks its distance up, and so does a query that stands in no column.
    """
    own, keys, steps = own_queries(geometry), geometry.key_positions.shape[-1], by_distance.shape[-1]
    if not side_by_side(geometry):
        return looked_up(by_distance, distances(geometry), keys)
    rows = by_distance[:, :, :own].flatten(-2)[..., own - 1 : own * steps - 1]
    moved = rows.view(*rows.shape[:2], own, steps - 1)[..., :keys]
    if not geometry.asking:
        return moved
    return torch.cat([moved, looked_up(by_distance[:, :, own:], distances(geometry)[..., own:, :], keys)], 2)


def looked_up(by_distance: Tensor, distance: Tensor, keys: int) -> Tensor:
    """Distances (T, S) or (B, T, S) are those of the key from the query."""
    steps = (distance + keys - 1).clamp(0, by_distance.shape[-1] - 1)
    steps = steps.view(-1, 1, *steps.shape[-2:])
    return by_distance.gather(-1, steps.expand(*by_distance.shape[:-1], keys))


def side_by_side(geometry: Geometry) -> bool:
    """Whether the real keys of each row are neighbours. Only asked on a CPU, where the answer costs no waiting."""
    keep = geometry.mask.keys
    if geometry.hypotheses > 1 or torch.compiler.is_compiling():
        return False
    if keep is None:
        return True
    if keep.device.type != "cpu":
        return False

    def ask() -> bool:
        begins = (keep[:, 1:] & ~keep[:, :-1]).sum(-1) + keep[:, 0]
        return bool((begins <= 1).all())

    return geometry.once("side by side", ask)


def own_queries(geometry: Geometry) -> int:
    """The number of queries that are keys too: the last of those."""
    return geometry.query_positions.shape[-1] - geometry.asking


def others(geometry: Geometry) -> Tensor:
    """(B, 1, T, S): which keys are of another segment than the query."""

    def differ() -> Tensor:
        queries, keys = geometry.facts["segments"]
        differing: Tensor = queries.unsqueeze(-1) != keys.unsqueeze(-2)
        return differing.unsqueeze(1)

    return geometry.once("others", differ)
