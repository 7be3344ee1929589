"""What is kept from step to step, so that a new token costs one step: keys and values, and recurrent states."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.nn.call.geometry import Geometry

Project = Callable[[Tensor, Geometry], tuple[Tensor, Tensor]]  # states (B, T, D) → keys and values (B, G, T, K), placed


class KeyValueCache:
    """Preallocated keys (B, G, capacity, K) and values; the filled part grows step by step, the room by doubling.

    A `fixed` one holds what was made of a memory: its rows are those of the memory, and nothing is added to it.
    """

    def __init__(self, capacity: int = 16, fixed: bool = False) -> None:
        self.capacity = capacity
        self.fixed = fixed
        self.length = 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None
        self.spare: tuple[Tensor, Tensor] | None = None  # what the last selection came from, to select into next

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append (B, G, T, K) keys and values; returns all of them so far."""
        end = self.length + k.shape[2]
        self.keys = self._room(self.keys, k, end)
        self.values = self._room(self.values, v, end)
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def whole(self) -> tuple[Tensor, Tensor] | None:
        """All keys and values so far, None while there are none."""
        if self.keys is None or self.values is None:
            return None
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be named twice or not at all."""
        if self.keys is not None and self.values is not None and not unchanged(rows, len(self.keys)):
            old, spare = (self.keys, self.values), self.spare or (None, None)
            self.keys, self.values = (self._select(*pair, rows) for pair in zip(old, spare, strict=True))
            self.spare = old

    def cut(self, length: int) -> None:
        """Forget all but the first so many columns; their room stays."""
        assert 0 <= length <= self.length
        self.length = length

    def copy(self) -> KeyValueCache:
        """The filled part, to go on from elsewhere."""
        other = KeyValueCache(self.capacity, self.fixed)
        if (filled := self.whole()) is not None:
            other.extend(*filled)
        return other

    def _select(self, store: Tensor, spare: Tensor | None, rows: Tensor) -> Tensor:
        """Only the filled part is worth copying; new memory would cost more than the copy."""
        if spare is None or len(spare) < len(rows) or spare.shape[1:] != store.shape[1:]:
            spare = store.new_empty(len(rows), *store.shape[1:])
        room = spare[: len(rows)]
        torch.index_select(store[:, :, : self.length], 0, rows, out=room[:, :, : self.length])
        return room

    @property
    def device(self) -> torch.device | None:
        return None if self.keys is None else self.keys.device

    @property
    def bytes(self) -> int:
        """Size of the filled part."""
        return sum(t[:, :, : self.length].numel() * t.element_size() for t in self.whole() or ())

    def _room(self, store: Tensor | None, new: Tensor, end: int) -> Tensor:
        batch, groups, _, width = new.shape
        if store is not None and store.shape[0] != batch:
            raise ValueError(f"the cache holds a batch of {store.shape[0]}, the new tokens are a batch of {batch}")
        if store is not None and end <= store.shape[2]:
            return store
        capacity = max(self.capacity, end if store is None else 2 * store.shape[2], end)
        room = new.new_empty(batch, groups, capacity, width)
        if store is not None:
            room[:, :, : self.length] = store[:, :, : self.length]
        return room


class Held:
    """Tensors with a row for each of the batch, replaced at every step: the state of a recurrent layer."""

    fixed = False

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors

    def select(self, rows: Tensor) -> None:
        if not unchanged(rows, len(self.tensors[0])):
            self.tensors = tuple(tensor.index_select(0, rows) for tensor in self.tensors)

    def cut(self, length: int) -> None:
        raise ValueError("a recurrent state holds all tokens in one: it cannot go back to an earlier one")

    def copy(self) -> Held:
        return Held(*self.tensors)  # which are replaced, never written to

    @property
    def device(self) -> torch.device | None:
        return self.tensors[0].device

    @property
    def bytes(self) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in self.tensors)


class Cache(dict[str, "KeyValueCache | Held"]):
    """What the layers of a model keep, by name; a layer makes its own when it first runs, with `room` for so many
    columns at first."""

    room = 16

    def at(self, name: str, fixed: bool = False) -> KeyValueCache:
        """The keys and values of an attention layer."""
        cache = self.get(name)
        if cache is None:
            cache = self[name] = KeyValueCache(1 if fixed else self.room, fixed)
        assert isinstance(cache, KeyValueCache)
        return cache

    def extend(
        self, name: str, k: Tensor, v: Tensor, x: Tensor, geometry: Geometry, project: Project
    ) -> tuple[Tensor, Tensor]:
        """All keys and values that the queries of a layer meet: those from before, and those of the new tokens.

        A cache that keeps something other than keys makes them of x (B, T, D), what the layer reads now, by `project`.
        """
        return self.at(name).extend(k, v)

    def held(self, name: str) -> tuple[Tensor, ...] | None:
        """The state of a recurrent layer, None before its first step."""
        state = self.get(name)
        return state.tensors if isinstance(state, Held) else None

    def hold(self, name: str, *tensors: Tensor) -> None:
        self[name] = Held(*tensors)

    def cut(self, length: int) -> None:
        """Forget all but the first so many columns of what grows; what was made of a memory stays."""
        for cache in self.values():
            if not cache.fixed:
                cache.cut(length)

    def duplicate(self) -> Cache:
        """With copies of what it holds, to go on from elsewhere."""
        return Cache({name: cache.copy() for name, cache in self.items()})

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Keep these rows of the batch, and these of the memory; None leaves what was made of the memory as it is."""
        for cache in self.values():
            chosen = sources if cache.fixed else rows
            if chosen is not None:
                cache.select(chosen)


def unchanged(rows: Tensor, count: int) -> bool:
    """Whether these are all of `count` rows in order. Only asked on a CPU, where the answer costs no waiting."""
    if len(rows) != count or rows.device.type != "cpu":
        return False
    return torch.equal(rows, torch.arange(count))
