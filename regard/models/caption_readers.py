"""How recurrent decoders came to know pictures; over the states of a text they read alike."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import Weight
from regard.models.recurrent import Read, Reader, ReaderConfig, Sizes
from regard.nn.attention.hard import ChoiceConfig, Soft
from regard.nn.attention.kernel import KernelConfig
from regard.nn.attention.scores import Additive
from regard.nn.attention.source import SourceAttention
from regard.nn.call.gathering import Outcome
from regard.nn.linear import Linear
from regard.nn.recurrent.layers import States


@dataclass(frozen=True)
class Vinyals(ReaderConfig, kind="vinyals"):
    """The summary enters the cell once, as a word before the first; words are told from the state itself. Show and
    tell, arXiv:1411.4555."""

    def build(self, sizes: Sizes) -> Reader:
        return VinyalsReader(sizes)


class VinyalsReader(Reader):
    stepwise = False
    opens = True

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.enter = Linear(sizes.memory, sizes.width)
        self.out = None if sizes.hidden == sizes.width else Linear(sizes.hidden, sizes.width)

    def opening(self, summary: Tensor) -> Tensor:
        entered: Tensor = self.enter(summary)
        return entered

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        return out if self.out is None else self.out(out)


@dataclass(frozen=True)
class Xu(ReaderConfig, kind="xu"):
    """The state h before a step asks the source; the answer z, times a gate σ(f h), enters the step with the word y,
    and the output is y + L h + M z. Soft or hard by its `choice`. Show, attend and tell, arXiv:1502.03044.

    Doubly stochastic attention (section 4.2.1): a place shall be looked at once by all words of a text together, or
    λ Σ (1 − Σ α)² is added to the loss of the text, λ being the `penalty`.
    """

    kernel: KernelConfig = Additive()
    choice: ChoiceConfig = Soft()
    penalty: Weight = 1.0

    def build(self, sizes: Sizes) -> Reader:
        return XuReader(sizes, self)


class XuReader(Reader):
    asks_first = True
    beside = "context"

    def __init__(self, sizes: Sizes, config: Xu) -> None:
        super().__init__(SourceAttention(config.kernel, None, config.choice, sizes.hidden, sizes.memory))
        self.gate = Linear(sizes.hidden, 1)
        self.of_state = Linear(sizes.hidden, sizes.width)
        self.of_context = Linear(sizes.memory, sizes.width, bias=False)
        self.extra, self.penalty = sizes.memory, config.penalty

    def begun(self, parts: States) -> States:
        return tuple(part.tanh() for part in parts)

    def before(self, state: Tensor, fed: Tensor, read: Read) -> Tensor:
        context = read.attend(state.unsqueeze(1), len(read.weights)).squeeze(1)
        opened: Tensor = self.gate(state).sigmoid()
        return opened * context

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        assert extra is not None
        written: Tensor = words + self.of_state(out) + self.of_context(extra)
        return written

    def settle(self, read: Read) -> None:
        if self.training and self.penalty:
            chances = torch.cat(read.chances, 2).squeeze(1)
            memory = read.context.memory
            keep = None if memory is None else memory.keep
            read.context.leave("looks", lambda outcome: self.penalty * uneven(chances, keep, outcome))


def uneven(chances: Tensor, keep: Tensor | None, outcome: Outcome) -> Tensor:
    """Σ (1 − Σ α)² over the places of all texts, of chances (B, T, S), for each of their words. Places that are not to
    `keep` (R, S) do not count."""
    looked = (chances * outcome.real.unsqueeze(-1)).sum(1)  # (B, S)
    missed = (1 - looked).square()
    if keep is not None:
        missed = missed * keep.repeat_interleave(len(missed) // len(keep), 0)
    return missed.sum() / outcome.real.sum().clamp(min=1)
