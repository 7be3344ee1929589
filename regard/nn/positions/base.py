"""The contract of a position scheme, and the scheme that does nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from regard.config import Part
from regard.nn.call.context import Context

PLACES = "places"  # the fact of a geometry: vectors (T, D) or (B, T, D) of where its queries stand


@dataclass(frozen=True)
class HeadDims:
    """The geometry of an attention layer; `groups` key-value heads serve `heads` query heads.

    Queries are as wide as keys unless `query_width` says otherwise, to a kernel that bridges the two.
    """

    width: int
    heads: int
    groups: int
    key_width: int
    value_width: int
    causal: bool = False
    query_width: int | None = None

    @property
    def asked_width(self) -> int:
        return self.query_width or self.key_width


class Position(nn.Module):
    """Brings order into attention, which by itself has none. Every method is neutral until it is overridden."""

    taken = 0  # how much of the model's width the scheme takes for itself, where it is concatenated
    segmented = False  # whether it tells the segments of a text apart
    values: Callable[[Tensor, Context], Tensor] | None = None  # (B, H, T, S) weights → (B, H, T, K) to add to the mix

    def forward(self, *given: Any) -> Any:
        """`embed` of (x, context) by the embedding, `place` of (q, k, v, context) by each layer. Both are called
        through here, so that hooks on a position fire."""
        return self.embed(*given) if len(given) == 2 else self.place(*given)

    def embed(self, x: Tensor, context: Context) -> Tensor:
        """(B, T, D - taken) token embeddings → (B, T, D) input of the first block."""
        return x

    def beside(self, context: Context) -> Tensor | None:
        """(T, D) or (B, T, D): what every layer adds to the states of which it makes queries and keys, not values. It
        may be given with the sequence, as a fact of its geometry."""
        found: Tensor | None = context.geometry.facts.get(PLACES)
        return found

    def place(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        """New queries (B, H, T, K), keys and values (B, G, T, K) of this call, before they are cached."""
        return q, k, v

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor | None:
        """What to add to the scores `scale * q·k`, broadcastable to (B, H, T, S)."""
        return None


@dataclass(frozen=True)
class PositionConfig(Part, family="position"):
    """A position scheme of a stack."""

    @property
    def shared(self) -> bool:
        """Whether the layers of a stack share one module, or have one each."""
        return True

    def build(self, dims: HeadDims) -> Position:
        raise TypeError(f"{type(self).__name__} is a family, not a position scheme")


@dataclass(frozen=True)
class NoPosition(PositionConfig, kind="none"):
    """No order at all: the output follows every permutation of the input."""

    def build(self, dims: HeadDims) -> Position:
        return Position()
