"""Watching: record the attention weights of all or some layers. Nothing is recorded, or slower, outside the block.

And silencing: run a model without some of its heads, to see what they are for.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regard.config import nearest
from regard.errors import Error
from regard.nn.call.around import Silence, Value, silences, watchers
from regard.nn.call.context import Context


class Seen(dict[str, list[Tensor]]):
    """Weights by layer name ("decoder.3.cross"), one tensor (B, H, T, S) per call, in the order of the calls.

    `notes` has the other values that were asked for, likewise.
    """

    def __init__(self, model: nn.Module, *patterns: str, notes: Iterable[str] = ()) -> None:
        super().__init__()
        self.model = model
        self.patterns = patterns
        self.wanted = tuple(notes)
        self.notes: dict[str, list[Tensor]] = {}

    def see(self, name: str, weights: Callable[[], Tensor]) -> None:
        if not self.patterns or _any_matches(self.patterns, name):
            self.setdefault(name, []).append(kept(weights()))

    def note(self, name: str, value: Value) -> None:
        if _any_matches(self.wanted, name):
            self.notes.setdefault(name, []).append(kept(value if isinstance(value, Tensor) else value()))

    def last(self, name: str) -> Tensor:
        """The weights of the newest call of one layer."""
        if name not in self:
            raise Error(f"no weights of {name!r} were seen: {nearest(name, self)}")
        return self[name][-1]


def kept(value: Tensor) -> Tensor:
    """Without its history. What decoding makes could not be changed afterwards, nor be a part of what is trained."""
    if not value.is_inference():
        return value.detach()
    with torch.inference_mode(False):
        return value.clone()


@contextmanager
def watch(model: nn.Module, *layers: str, notes: Iterable[str] = ()) -> Iterator[Seen]:
    """Record weights while the block runs, in this thread: `with watch(model, "decoder.*.cross") as seen:`.

    Layers are named as in the model, with `*` as a wildcard; none means all of them. `notes` names other values in the
    same way: "embedding", "decoder.input", "decoder.3.stream" (the residual stream after a block),
    "decoder.3.feedforward", and "decoder.3.self.queries", ".keys", ".scores" (before the mask), ".mixed", ".output";
    of a recurrent decoder "decoder.0.cross.chances" and, where it looks in a window, ".centres" (B, T).
    The results of the model are the same bit for bit: weights are computed in addition to what runs anyway.
    """
    names = attention_names(model)
    for pattern in layers:
        if not fnmatch.filter(names, pattern):
            raise Error(f"no attention layer is called {pattern!r}: {nearest(pattern, names)}")
    seen = Seen(model, *layers, notes=notes)
    with watchers.add(seen):
        yield seen


@contextmanager
def silenced(model: nn.Module, heads: Mapping[str, Collection[int]]) -> Iterator[None]:
    """Run without some heads while the block runs, in this thread: `with silenced(model, {"decoder.3.cross": [5]}):`.

    A silent head adds nothing to its layer's output. Michel et al. 2019, arXiv:1905.10650.
    """
    names = attention_names(model)
    for name in heads:
        if name not in names:
            raise Error(f"no attention layer is called {name!r}: {nearest(name, names)}")
    with silences.add(Silence(model, heads)):
        yield


def attach(context: Context, model: nn.Module) -> Context:
    """The context with whoever watches this model, in this thread, and whatever of it is silent."""
    context.watcher, context.silence = watchers.of(model), silences.of(model)
    return context


def observed(model: nn.Module) -> bool:
    """Whether this thread watches the model or silences a part of it; other threads would not."""
    return watchers.of(model) is not None or silences.of(model) is not None


def _any_matches(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def attention_names(model: nn.Module) -> list[str]:
    """The names under which the attention layers of a model are watched, from first to last."""
    names: Callable[[], list[str]] | None = getattr(model, "attention_names", None)
    if names is None:
        raise Error(f"{type(model).__name__} is not a model of this library, so it cannot be watched")
    return names()
