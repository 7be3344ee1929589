"""The geometry of a sequence: where its tokens stand, and which keys each query may attend to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from regard.nn.call.masks import Mask, places_in, positions_of

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Geometry:
    """Positions of queries (T,) or (B, T) and of keys (S,) or (B, S), and the mask between them.

    It never changes. A part that changes the length of a sequence puts another one in its place. `reach` is above all
    positions of the queries, as is known without asking the device. A row may hold several `hypotheses` of a sentence
    side by side. The last `asking` queries attend and are not attended to: they are no keys. `facts` are what else
    parts ask for by name, such as the "segments" of queries (B, T) and of keys (B, S).
    """

    mask: Mask
    query_positions: Tensor
    key_positions: Tensor
    reach: int
    hypotheses: int = 1
    asking: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    if TYPE_CHECKING:
        memo: dict[Any, Any] = field(init=False)

    def __post_init__(self) -> None:
        """What is computed once for all layers is no field: whoever replaces a field starts anew, FSDP among them."""
        object.__setattr__(self, "memo", {})

    @classmethod
    def whole(cls, like: Tensor, mask: Mask) -> Geometry:
        """Of a batch `like` (B, T, …) that is read at once, with the padding that `mask.keys` tells."""
        batch, length = like.shape[:2]
        if mask.documents is not None:
            positions = places_in(mask.documents)
        elif mask.keys is None:
            positions = torch.arange(length, device=like.device)
        elif mask.keys.shape == (batch, length):
            positions = positions_of(mask.keys)
        else:
            raise ValueError(f"the mask has shape {tuple(mask.keys.shape)}, the tokens {(batch, length)}")
        return cls(mask, positions, positions, length)

    @property
    def plainly_causal(self) -> bool:
        """A whole sequence without padding under a causal mask, which needs no dense mask."""
        return self.mask.only_causal and self.query_positions is self.key_positions

    def visible(self) -> Tensor | None:
        """The dense mask (B or 1, H or 1, T, S), true where a query may attend; None where all is visible."""
        return self.once("visible", lambda: self.mask.dense(self.query_positions, self.key_positions))

    def hidden(self) -> Tensor | None:
        """The opposite: true where a query may not attend."""
        visible = self.visible()
        return None if visible is None else self.once("hidden", lambda: ~visible)

    def unseen(self, dtype: torch.dtype) -> Tensor | None:
        """What to add to scores so that nothing hidden is attended to; PyTorch would make it anew for each layer."""

        def make() -> Tensor | None:
            visible = self.visible()
            if visible is None:
                return None
            return torch.where(visible, torch.zeros((), dtype=dtype, device=visible.device), float("-inf"))

        return self.once(("unseen", dtype), make)

    def once(self, key: Any, make: Callable[[], R]) -> R:
        """What `make` gives, made once for this geometry and shared by all layers."""
        if key not in self.memo:
            self.memo[key] = make()
        result: R = self.memo[key]
        return result
