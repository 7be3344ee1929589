"""What a layer is told beside its input, as one argument and never as state on a module: threads can share a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.nn.around import Around
from regard.nn.cache import Cache, unchanged
from regard.nn.geometry import Geometry
from regard.nn.masks import Mask

Value = Tensor | Callable[[], Tensor]  # a tensor, or what computes it if it is wanted


class Watcher(Protocol):
    """Someone who wants to see what a model computes: its attention weights, and values on the way."""

    model: nn.Module

    def see(self, name: str, weights: Callable[[], Tensor]) -> None:
        """Called once per attention layer; `weights` computes (B, H, T, S) if it is wanted."""

    def note(self, name: str, value: Value) -> None:
        """Called for a value on the way, such as "decoder.3.stream" (B, T, D) or "decoder.3.self.scores"."""


@dataclass(frozen=True)
class Silence:
    """Heads of a model that add nothing: the name of an attention layer → the numbers of its silent heads."""

    model: nn.Module
    heads: Mapping[str, Collection[int]]


@dataclass(frozen=True)
class Outcome:
    """How a pass went: the log-likelihood (B, T) of each target word, zero for padding, and which are `real`."""

    log_likelihood: Tensor
    real: Tensor


class Losses:
    """What the layers of a model add to the loss of a batch, by the name of the layer.

    A loss is a number (), or a function of the outcome of its pass, for layers that draw and learn by reward. A layer
    that the batch passes several times (two texts, the segments of a long one) leaves a loss in each pass: their mean
    counts, so that the number of passes changes nothing.
    """

    def __init__(self) -> None:
        self.left: dict[str, list[Tensor]] = {}
        self.waiting: list[tuple[str, Callable[[Outcome], Tensor]]] = []

    def leave(self, name: str, loss: Tensor | Callable[[Outcome], Tensor]) -> None:
        """Called by a layer, under its name."""
        if isinstance(loss, Tensor):
            self.left.setdefault(name, []).append(loss)
        else:
            self.waiting.append((name, loss))

    def settle(self, outcome: Callable[[], Outcome]) -> None:
        """Called after a pass by whoever computes the loss of its words; `outcome` is asked for only where a layer
        waits for it."""
        if self.waiting:
            known = outcome()
            for name, loss in self.waiting:
                self.leave(name, loss(known))
            self.waiting = []

    def total(self) -> Tensor | float:
        """The sum over layers, which has the size of a mean loss; 0 where no layer adds anything."""
        if self.waiting:
            names = ", ".join(sorted({name for name, _ in self.waiting}))
            raise ConfigError(
                f"{names}: layers that draw learn by how likely the right words were, and this training does not tell "
                "them: take layers that do not draw, or a task that writes texts"
            )
        total: Tensor | float = 0.0
        for losses in self.left.values():
            total = total + (losses[0] if len(losses) == 1 else torch.stack(losses).mean())
        return total


@dataclass(frozen=True)
class Gathering:
    """A training that gathers what the layers of a model add to its loss."""

    model: nn.Module
    losses: Losses


watchers: Around[Watcher] = Around("watchers")
silences: Around[Silence] = Around("silences")
gatherings: Around[Gathering] = Around("gatherings")


def watcher_of(model: nn.Module) -> Watcher | None:
    """Whoever watches this model, or one that it is a part of, in this thread; the newest, where there are several."""
    return next((watcher for watcher in reversed(watchers.get()) if holds(watcher.model, model)), None)


def silence_of(model: nn.Module) -> Silence | None:
    """The heads of this model that are silent in this thread."""
    return next((silence for silence in reversed(silences.get()) if holds(silence.model, model)), None)


def losses_of(model: nn.Module) -> Losses:
    """Where this model leaves its extra losses in this thread; where nobody gathers them, nobody reads them."""
    return next((one.losses for one in reversed(gatherings.get()) if holds(one.model, model)), None) or Losses()


def holds(whole: nn.Module, part: nn.Module) -> bool:
    """Whether a model is another, or stands inside it, as the reader of a classifier does."""
    return whole is part or any(module is part for module in whole.modules())


@dataclass
class Memory:
    """What an encoder hands to a decoder: states (B, S, D), which of them are real (B, S), None for all, and where they
    stand (S,) or (B, S), None for one after the other.

    It may have fewer rows than the decoder's batch: each then serves as many consecutive ones, the beams of a sentence.
    `summary` (B, D) is one vector for the whole source, where the encoder makes one.
    """

    states: Tensor
    keep: Tensor | None = None
    summary: Tensor | None = None
    positions: Tensor | None = None

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
        return Memory(self.states.index_select(0, rows), chosen(self.keep), chosen(self.summary), positions)

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
    losses: Losses = field(default_factory=lambda: Losses())  # noqa: PLW0108  (which `torch.compile` can trace)
    samples: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def whole(cls, like: Tensor, mask: Mask, memory: Memory | None = None) -> Context:
        """Of a pass over a whole batch `like` (B, T, …), with the padding that `mask.keys` tells."""
        return cls(Geometry.whole(like, mask), memory)

    def of(self, model: nn.Module) -> Context:
        """With whoever watches this model, whatever of it is silent, and whoever gathers its extra losses."""
        self.watcher, self.silence, self.losses = watcher_of(model), silence_of(model), losses_of(model)
        return self

    def enter(self, name: str) -> Context:
        """Of one layer inside."""
        return self._with(self.geometry, self.place(name))

    def named(self, name: str) -> Context:
        """The same of another layer, by its whole name."""
        return self._with(self.geometry, name)

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
        return ".".join(part for part in (self.name, name) if part)

    def note(self, name: str, value: Value) -> None:
        """Tell a watcher, if there is one, of a value on the way."""
        if self.watcher is not None:
            self.watcher.note(self.place(name), value)

    def attended(self, role: str, mixed: Tensor, weights: Callable[[], Tensor]) -> Tensor:
        """What the heads of this layer mixed (B, H, …), with nothing from those that are silent; a watcher sees their
        weights. Whatever attends calls this; where it attends step by step, `silent` before and `see` after it."""
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
