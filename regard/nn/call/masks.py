"""Masks, built in this one place. Boolean, and true means: this query may attend to this key.

A `Mask` describes what is visible; `dense` turns the description into a matrix. Everything is decided by the tokens'
positions rather than by their columns, so that left- and right-padded rows, with or without a cache, agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    """Which keys a query may attend to; all that is given must hold.

    causal: keys at or before the query. window: keys at most this far away. prefix (B,): the first so many positions
    are visible to every query, even against the arrow of time. keys (B, S): real tokens, as opposed to padding.
    documents (B, T): the number of the text that a token belongs to, of several that stand one after the other in a
    row; it sees its own alone, and positions begin anew in each.
    pairs: anything else, broadcastable to (B, H, T, S).
    """

    causal: bool = False
    window: int | None = None
    prefix: Tensor | None = None
    keys: Tensor | None = None
    pairs: Tensor | None = None
    documents: Tensor | None = None

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 0:
            raise ValueError(f"a window of {self.window} is not allowed; it takes a number of at least 0")
        if self.keys is not None:
            _check("keys", self.keys, (None, None))
        if self.pairs is not None:
            _check("pairs", self.pairs, None)
        if self.keys is not None and self.documents is not None:
            raise ValueError("a mask has documents or padding: several texts are packed so that there is none")

    @property
    def only_causal(self) -> bool:
        narrower = self.window is not None or self.prefix is not None or self.pairs is not None
        return self.causal and not narrower and self.keys is None and self.documents is None

    @property
    def only_padding(self) -> bool:
        narrower = self.causal or self.window is not None or self.prefix is not None or self.pairs is not None
        return not narrower and self.documents is None

    def dense(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """(B or 1, H or 1, T, S) for queries and keys at these positions, (T,) or (B, T); None where all is visible."""
        length, span = queries.shape[-1], keys.shape[-1]
        if self.only_causal and length == 1 and queries.dim() == 1:
            return None  # the newest token, nothing padded: it sees all that came before
        visible: Tensor | None = None
        if self.causal or self.window is not None:
            distance = queries.unsqueeze(-1) - keys.unsqueeze(-2)  # (T, S) or (B, T, S)
            visible = distance >= 0 if self.causal else torch.ones_like(distance, dtype=torch.bool)
            if self.prefix is not None:
                visible = visible | (keys < self.prefix.unsqueeze(-1)).unsqueeze(-2)
            if self.window is not None:
                visible = visible & (distance.abs() <= self.window)
            visible = visible.view(-1, 1, length, span)
        if self.keys is not None:
            if self.keys.shape[-1] != span:
                raise ValueError(f"the key mask {tuple(self.keys.shape)} does not fit {span} keys")
            visible = _both(visible, self.keys[:, None, None, :])
        if self.documents is not None:
            if self.documents.shape[-1] != span or length != span:
                raise ValueError(f"documents of {self.documents.shape[-1]} tokens do not fit {length} and {span}")
            own = self.documents.unsqueeze(-1) == self.documents.unsqueeze(-2)  # (B, T, T)
            visible = _both(visible, own.unsqueeze(1))
        if self.pairs is not None:
            if self.pairs.shape[-1] not in (1, span) or self.pairs.shape[-2] not in (1, length):
                shape = tuple(self.pairs.shape)
                raise ValueError(f"a mask of shape {shape} does not fit {length} queries and {span} keys")
            visible = _both(visible, self.pairs[(None,) * (4 - self.pairs.dim())])
        return visible


def _both(one: Tensor | None, other: Tensor) -> Tensor:
    return other if one is None else one & other


def _check(name: str, mask: Tensor, shape: tuple[None, ...] | None) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(f"the mask {name!r} is {mask.dtype}; it takes booleans, true where a query may attend")
    if shape is not None and mask.dim() != len(shape):
        raise ValueError(f"the mask {name!r} has shape {tuple(mask.shape)}; it takes {len(shape)} dimensions")
    if shape is None and not 2 <= mask.dim() <= 4:
        raise ValueError(f"the mask {name!r} has shape {tuple(mask.shape)}; it takes (T, S), (B, T, S) or (B, H, T, S)")


def real_tokens(lengths: Tensor, span: int) -> Tensor:
    """(B, span), true for the first `lengths[b]` columns of each row: the key mask of a right-padded batch."""
    return torch.arange(span, device=lengths.device) < lengths[:, None]


def positions_of(keep: Tensor) -> Tensor:
    """(B, T): the place of each real token among the real ones of its row; padding shares its neighbour's place."""
    return (keep.long().cumsum(-1) - 1).clamp(min=0)


def places_in(documents: Tensor) -> Tensor:
    """(B, T): the place of each token in its own document."""
    columns = torch.arange(documents.shape[-1], device=documents.device).expand_as(documents)
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return columns - columns.masked_fill(~begins, 0).cummax(-1).values
