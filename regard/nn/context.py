"""What belongs to one call travels in a `Context`, never as state on a module, so that threads can share a model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.nn.cache import Cache, unchanged
from regard.nn.masks import Mask, places_in, positions_of
from regard.nn.past import Past

R = TypeVar("R")
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


watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())
silences: ContextVar[tuple[Silence, ...]] = ContextVar("silences", default=())
gatherings: ContextVar[tuple[Gathering, ...]] = ContextVar("gatherings", default=())


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
    """What an encoder hands to a decoder: states (B, S, D) and which of them are real (B, S), None for all.

    It may have fewer rows than the decoder's batch: each then serves as many consecutive ones, the beams of a sentence.
    `summary` (B, D) is one vector for the whole source, where the encoder makes one.
    """

    states: Tensor
    keep: Tensor | None = None
    summary: Tensor | None = None

    def select(self, rows: Tensor) -> Memory:
        if unchanged(rows, len(self.states)):
            return self
        parts = (None if part is None else part.index_select(0, rows) for part in (self.keep, self.summary))
        return Memory(self.states.index_select(0, rows), *parts)


@dataclass
class Context:
    """One call: what is visible, where tokens stand, what is remembered, who is watching.

    `reach` bounds the positions: all are below it, as is known without asking the device. `name` is the place in the
    model, such as "decoder.3"; it tells layers apart that share weights. `side` says whose keys are attended to, since
    each has a mask of its own. So many `hypotheses` of a sentence stand side by side in a row. `past` is what layers
    read of the text before; its keys stand in front of others. The last `unread` queries are no keys: they ask, and
    nobody attends to them. `segments` are those of the queries (B, T) and of the keys (B, S), where attention tells
    them apart. `silence` names heads that add nothing. `losses` takes extra losses, `samples` what a layer drew
    at random, so that watching draws nothing new.
    """

    mask: Mask
    query_positions: Tensor
    key_positions: Tensor
    reach: int
    memory: Memory | None = None
    cache: Cache | None = None
    name: str = ""
    side: str = "self"
    hypotheses: int = 1
    past: Past | None = None
    unread: int = 0
    segments: tuple[Tensor, Tensor] | None = None
    watcher: Watcher | None = None
    silence: Silence | None = None
    losses: Losses = field(default_factory=Losses)
    samples: dict[str, Tensor] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def whole(cls, like: Tensor, mask: Mask, memory: Memory | None = None) -> Context:
        """The context of a pass over a whole batch `like` (B, T, …), with the padding that `mask.keys` tells."""
        batch, length = like.shape[:2]
        if mask.documents is not None:
            places = places_in(mask.documents)
            return cls(mask, places, places, length, memory)
        if mask.keys is None:
            places = torch.arange(length, device=like.device)
            return cls(mask, places, places, length, memory)
        if mask.keys.shape != (batch, length):
            raise ValueError(f"the mask has shape {tuple(mask.keys.shape)}, the tokens {(batch, length)}")
        positions = positions_of(mask.keys)
        return cls(mask, positions, positions, length, memory)

    @classmethod
    def behind(cls, past: Past, like: Tensor, mask: Mask) -> Context:
        """The context of a pass over a batch `like` (B, T, …) behind what is remembered, all of which can be seen."""
        if mask.documents is not None:
            raise ValueError("a mask has documents, or a memory of the text before: a row of several texts has none")
        known, length = past.size, like.shape[1]
        keys = past.keys(mask.keys, like)
        places = torch.arange(known + length, device=like.device) if keys is None else positions_of(keys)
        pairs = None if mask.pairs is None else nn.functional.pad(mask.pairs, (known, 0), value=True)
        return cls(replace(mask, keys=keys, pairs=pairs), places[..., known:], places, known + length, past=past)

    def of(self, model: nn.Module) -> Context:
        """With whoever watches this model, whatever of it is silent, and whoever gathers its extra losses."""
        self.watcher, self.silence, self.losses = watcher_of(model), silence_of(model), losses_of(model)
        return self

    def note(self, name: str, value: Value) -> None:
        """Tell a watcher, if there is one, of a value on the way."""
        if self.watcher is not None:
            self.watcher.note(f"{self.name}.{name}" if self.name else name, value)

    def enter(self, name: str) -> Context:
        """The context of one layer inside."""
        inner = copy.copy(self)
        inner.name = f"{self.name}.{name}" if self.name else name
        return inner

    def across(self) -> Context:
        """The context of attention from this sequence to the memory."""
        if self.memory is None:
            raise ValueError(f"the layer {self.name!r} attends to a memory, but none was given")
        memory = self.memory
        inner = copy.copy(self)
        inner.side = "memory"
        inner.mask, inner.key_positions = self.once(
            "across",
            lambda: (Mask(keys=memory.keep), torch.arange(memory.states.shape[1], device=memory.states.device)),
        )
        return inner

    def earlier(self) -> Context:
        """The context of what is remembered, which stands before this sequence."""
        assert self.past is not None
        inner = copy.copy(self)
        inner.side = "past"
        inner.query_positions = self.key_positions[..., : self.past.size]
        return inner

    @property
    def own(self) -> int:
        """The number of queries that are keys too: the last of those."""
        return self.query_positions.shape[-1] - self.unread

    def visible(self) -> Tensor | None:
        """The dense mask (B or 1, H or 1, T, S) of this call, built once for all layers; None where all is visible."""
        mask = self.mask
        return self.once(("visible", self.side), lambda: mask.dense(self.query_positions, self.key_positions))

    def hidden(self) -> Tensor | None:
        """The opposite: where a query may not attend."""

        def opposite() -> Tensor | None:
            visible = self.visible()
            return None if visible is None else ~visible

        return self.once(("hidden", self.side), opposite)

    def unseen(self, dtype: torch.dtype) -> Tensor | None:
        """What to add to scores so that nothing hidden is attended to; PyTorch would make it anew for each layer."""

        def make() -> Tensor | None:
            hidden = self.hidden()
            zeros = None if hidden is None else torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
            return None if zeros is None or hidden is None else zeros.masked_fill_(hidden, float("-inf"))

        return self.once(("unseen", self.side, dtype), make)

    @property
    def plainly_causal(self) -> bool:
        """A whole sequence without padding under a causal mask, which needs no dense mask."""
        return self.mask.only_causal and self.query_positions is self.key_positions

    def once(self, key: Any, make: Callable[[], R]) -> R:
        """What `make` gives, made once per call of the model and shared by its layers."""
        if key not in self.memo:
            self.memo[key] = make()
        result: R = self.memo[key]
        return result
