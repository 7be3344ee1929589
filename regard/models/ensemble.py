"""Several translators that write together: each word by the mean of what all of them expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from regard.errors import Error
from regard.models.base import SourceWriter, State
from regard.nn.call.memory import Memory
from regard.nn.heads import MeanHead


class Ensemble(SourceWriter):
    """Answers as one translator does, whatever its members are made of; they must know the same words.

    Its hidden states are theirs side by side. Sutskever et al. 2014, arXiv:1409.3215, section 3.6.
    """

    def __init__(self, models: Sequence[SourceWriter]) -> None:
        super().__init__(models[0].config)
        sizes = [model.config.vocabulary for model in models]
        if len(set(sizes)) > 1:
            raise Error(f"models of {' and '.join(map(str, sizes))} words cannot write together")
        self.members = nn.ModuleList(models)
        self.head = MeanHead([model.head for model in models], [model.config.width for model in models])

    @property
    def models(self) -> list[SourceWriter]:
        return [cast(SourceWriter, model) for model in self.members]

    @property
    def branches(self) -> bool:
        return all(model.branches for model in self.models)

    @property
    def rewinds(self) -> bool:
        return False

    def encode(self, source: Tensor, keep: Tensor | None = None) -> Memory:
        return Memories.of([model.encode(source, keep) for model in self.models])

    def decode(self, memory: Memory, target: Tensor, keep: Tensor | None = None) -> Tensor:
        assert isinstance(memory, Memories)
        both = zip(self.models, memory.parts, strict=True)
        return torch.cat([model.decode(part, target, keep) for model, part in both], -1)

    def begin(self, memory: Memory) -> State:
        assert isinstance(memory, Memories)
        both = zip(self.models, memory.parts, strict=True)
        return States(memory=memory, parts=tuple(model.begin(part) for model, part in both))

    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        assert isinstance(state, States)
        both = zip(self.models, state.parts, strict=True)
        return torch.cat([model.read(tokens, part, keep) for model, part in both], -1)

    def cache_values(self) -> tuple[int, int]:
        own, source = zip(*(model.cache_values() for model in self.models), strict=True)
        return sum(own), sum(source)


@dataclass
class Memories(Memory):
    """What each member made of a source; `states` and what is real are those of the first."""

    parts: tuple[Memory, ...] = ()

    @classmethod
    def of(cls, parts: Sequence[Memory]) -> Memories:
        return cls(parts[0].states, parts[0].keep, parts=tuple(parts))

    def select(self, rows: Tensor) -> Memory:
        return Memories.of([part.select(rows) for part in self.parts])


@dataclass
class States(State):
    """Those of all members; each has its own cache, and what is done to one is done to all."""

    parts: tuple[State, ...] = ()

    def reserve(self, columns: int) -> None:
        for part in self.parts:
            part.reserve(columns)

    def branch(self, size: int) -> None:
        for part in self.parts:
            part.branch(size)

    def select(self, rows: Tensor, sources: Tensor | None = None) -> None:
        for part in self.parts:
            part.select(rows, sources)
