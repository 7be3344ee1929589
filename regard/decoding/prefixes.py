"""What a model has read before, so that a prompt that begins alike is not read again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from regard.decoding.reading import common
from regard.decoding.stream import Begun
from regard.models.base import State, TextWriter

BYTES = 1 << 28  # that are kept of one model
MANY = 16  # prompts
FEWEST = 4  # tokens in common that are worth a copy


class Prefixes:
    """The states after the latest prompts, within bounds. Threads may share it: what it gives is a copy."""

    def __init__(self, model: TextWriter, most: int = BYTES, many: int = MANY) -> None:
        self.model, self.most, self.many = model, most, many
        self.lock = threading.Lock()
        self.states: OrderedDict[tuple[int, ...], State] = OrderedDict()

    def find(self, tokens: Sequence[int]) -> Begun | None:
        """The state after as many of a prompt's first tokens as were read before; at least its last one is left."""
        with self.lock:
            alike = {known: min(common(known, tokens), len(tokens) - 1) for known in self.states}
            if not self.model.rewinds:  # a recurrent state stands at its end alone
                alike = {known: count for known, count in alike.items() if count == len(known)}
            known = max(alike, key=lambda one: alike[one], default=None)
            if known is None or alike[known] < FEWEST:
                return None
            self.states.move_to_end(known)
            state = self.states[known].copy()
            state.cut(alike[known])
            return Begun(state, alike[known])

    def keep(self, tokens: Sequence[int], state: State) -> None:
        """After a prompt was read; those that it goes on from are contained in it."""
        new, copied = tuple(tokens), state.copy()
        if size(copied) > self.most:
            return
        with self.lock:
            inside = [known for known in self.states if known == new[: len(known)]] if self.model.rewinds else [new]
            for known in inside:
                self.states.pop(known, None)
            self.states[new] = copied
            while len(self.states) > self.many or sum(map(size, self.states.values())) > self.most:
                self.states.popitem(last=False)


def size(state: State) -> int:
    """Bytes."""
    return sum(cache.bytes for cache in state.cache.values())
