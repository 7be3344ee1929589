"""What a layer is told beside its input, as one argument and never as state on a module: threads can share a model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask

if TYPE_CHECKING:
    from regard.nn.call.around import Silence, Value, Watcher
    from regard.nn.call.cache import Cache
    from regard.nn.call.gathering import Losses, Outcome
    from regard.nn.call.memory import Memory


@dataclass
class Context:
    """The geometry of the sequence, and the call: which layer is asked, what is kept, who is watching.

    `name` is the place in the model, such as "decoder.3"; it tells layers apart that share weights. `memory` is what
    cross-attention attends to, `cache` what layers keep from call to call. `silence` names heads that add nothing.
    `losses` takes extra losses, `samples` what a layer drew at random, so that watching draws nothing new.
    """

    geometry: Geometry
    memory: Memory | None = None
    cache: Cache | None = None
    name: str = ""
    watcher: Watcher | None = None
    silence: Silence | None = None
    losses: Losses | None = None
    samples: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def whole(cls, like: Tensor, mask: Mask, memory: Memory | None = None) -> Context:
        """Of a pass over a whole batch `like` (B, T, …), with the padding that `mask.keys` tells."""
        return cls(Geometry.whole(like, mask), memory)

    def enter(self, name: str) -> Context:
        """Of one layer inside."""
        return self._with(self.geometry, self.place(name))

    def at(self, geometry: Geometry) -> Context:
        """The same call on a sequence of another geometry."""
        return self._with(geometry, self.name)

    def _with(self, geometry: Geometry, name: str) -> Context:
        return Context(geometry, self.memory, self.cache, name, self.watcher, self.silence, self.losses, self.samples)

    def across(self) -> Context:
        """Of attention from this sequence to the memory."""
        if self.memory is None:
            raise ValueError(f"the layer {self.name!r} attends to a memory, but none was given")
        return self.at(self.memory.seen_by(self.geometry))

    def kept(self, role: str, make: Callable[[Tensor], tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """Keys and values that `make` gives of the memory's states, made once for a memory where there is a cache."""
        assert self.memory is not None
        cache = None if self.cache is None else self.cache.at(f"{self.name}.{role}", fixed=True)
        known = None if cache is None else cache.whole()
        if known is not None:
            return known
        made = make(self.memory.states)
        return made if cache is None else cache.extend(*made)

    def place(self, name: str) -> str:
        """The full name of something in this layer; "" is the layer itself."""
        return f"{self.name}.{name}" if self.name and name else self.name or name

    def note(self, name: str, value: Value) -> None:
        """Tell a watcher, if there is one, of a value on the way."""
        if self.watcher is not None:
            self.watcher.note(self.place(name), value)

    def attended(self, role: str, mixed: Tensor, weights: Callable[[], Tensor]) -> Tensor:
        """What the heads of this layer mixed (B, H, …), with nothing from those that are silent; a watcher sees their
        weights. Whatever attends calls this; where it attends step by step, `silent` before and `see` after it."""
        if self.watcher is None and self.silence is None:
            return mixed
        self.see(role, weights)
        if not (silent := self.silent(role)):
            return mixed
        kept = [head not in silent for head in range(mixed.shape[1])]
        return mixed * torch.tensor(kept, device=mixed.device).view(1, -1, *[1] * (mixed.dim() - 2))

    def see(self, role: str, weights: Callable[[], Tensor]) -> None:
        """Tell a watcher, if there is one, of attention weights; `weights` computes (B, H, T, S) if they are wanted."""
        if self.watcher is not None:
            self.watcher.see(self.place(role), weights)

    def silent(self, role: str) -> Collection[int]:
        """The heads that add nothing."""
        return () if self.silence is None else self.silence.heads.get(self.place(role), ())

    def leave(self, role: str, loss: Tensor | Callable[[Outcome], Tensor]) -> None:
        """Leave an extra loss for the training, if someone gathers it (`losses.py`)."""
        if self.losses is not None:
            self.losses.leave(self.place(role), loss)
