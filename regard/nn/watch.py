"""Watching: record the attention weights of all or some layers. Nothing is recorded, or slower, outside the block."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from regard.config import nearest
from regard.nn.context import watchers


class Seen(dict[str, list[Tensor]]):
    """Weights by layer name ("decoder.3.cross"), one tensor (B, H, T, S) per call, in the order of the calls."""

    def __init__(self, model: nn.Module, *patterns: str) -> None:
        super().__init__()
        self.model = model
        self.patterns = patterns

    def see(self, name: str, weights: Callable[[], Tensor]) -> None:
        if not self.patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns):
            self.setdefault(name, []).append(weights().detach())

    def last(self, name: str) -> Tensor:
        """The weights of the newest call of one layer."""
        if name not in self:
            raise ValueError(f"no weights of {name!r} were seen: {nearest(name, self)}")
        return self[name][-1]


@contextmanager
def watch(model: nn.Module, *layers: str) -> Iterator[Seen]:
    """Record weights while the block runs, in this thread: `with watch(model, "decoder.*.cross") as seen:`.

    Layers are named as in the model, with `*` as a wildcard; none means all of them. The results of the model are
    the same bit for bit: weights are computed in addition to what runs anyway.
    """
    names = attention_names(model)
    for pattern in layers:
        if not fnmatch.filter(names, pattern):
            raise ValueError(f"no attention layer is called {pattern!r}: {nearest(pattern, names)}")
    seen = Seen(model, *layers)
    token = watchers.set((*watchers.get(), seen))
    try:
        yield seen
    finally:
        watchers.reset(token)


def attention_names(model: nn.Module) -> list[str]:
    """The names under which the attention layers of a model are watched, from first to last."""
    names: Callable[[], list[str]] | None = getattr(model, "attention_names", None)
    if names is None:
        raise ValueError(f"{type(model).__name__} is not a model of this library, so it cannot be watched")
    return names()
