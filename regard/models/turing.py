"""The neural Turing machine: a controller that reads and writes a memory. Graves et al. 2014, arXiv:1410.5401."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from regard.config import Size
from regard.models.base import Model, ModelConfig
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.linear import Linear
from regard.nn.recurrent.layers import RecurrentLayers, States
from regard.nn.recurrent.slots import MemoryHeads, MemoryState

PLACE = "memory.0"
ROLES = ("read", "write")


@dataclass(frozen=True, kw_only=True)
class Turing(ModelConfig, kind="turing"):
    """Vectors of `inputs` numbers in, logits of `outputs` bits out, one a step, with `slots` × `slot_width` of memory.

    An LSTM controller has a memory of its own as well; a feed-forward one must keep everything in the slots. Heads
    move by content, or by at most `reach` slots a step.
    """

    inputs: Size = 10
    outputs: Size = 8
    controller: Literal["lstm", "feedforward"] = "lstm"
    hidden: Size = 100
    slots: Size = 128
    slot_width: Size = 20
    readers: Size = 1
    writers: Size = 1
    reach: Size = 1

    def assemble(self) -> TuringModel:
        return TuringModel(self)


@dataclass(frozen=True)
class TuringState:
    """The memory, and the states of a recurrent controller."""

    memory: MemoryState
    controller: States


class TuringModel(Model):
    """`forward` takes (B, T, inputs) to logits (B, T, outputs); `step` goes on from a state."""

    config: Turing

    def __init__(self, config: Turing) -> None:
        super().__init__(config)
        self.memory = MemoryHeads(
            config.hidden, config.slots, config.slot_width, config.readers, config.writers, config.reach
        )
        entering = config.inputs + config.readers * config.slot_width
        self.controller: RecurrentLayers | Linear
        if config.controller == "lstm":
            self.controller = RecurrentLayers("lstm", entering, config.hidden, layers=1, dropout=0.0)
        else:
            self.controller = Linear(entering, config.hidden)
        self.out = Linear(config.hidden + config.readers * config.slot_width, config.outputs)

    def begin(self, batch: int) -> TuringState:
        memory = self.memory.begin(batch)
        blank = memory.read.new_zeros(batch, 1, self.config.hidden)
        return TuringState(memory, (blank, blank) if isinstance(self.controller, RecurrentLayers) else ())

    def step(self, x: Tensor, state: TuringState) -> tuple[Tensor, TuringState]:
        """One vector a row (B, inputs) → logits (B, outputs), and the state after it."""
        hidden, state = self.moved(x, state, self.silent(self.whole(x.unsqueeze(1), Mask())))
        return self.out(torch.cat([hidden, state.memory.read], -1)), state

    def moved(self, x: Tensor, state: TuringState, silent: Tensor | None) -> tuple[Tensor, TuringState]:
        """The controller's output (B, hidden), and the state in which it leaves the memory."""
        entering, states = torch.cat([x, state.memory.read], -1), state.controller
        if isinstance(self.controller, RecurrentLayers):
            hidden, states = self.controller.step(entering, states)
        else:
            hidden = self.controller(entering).tanh()
        return hidden, TuringState(self.memory(hidden, state.memory, silent), states)

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 3 or x.shape[-1] != self.config.inputs:
            raise ValueError(f"the input has shape {tuple(x.shape)}; it takes (B, T, {self.config.inputs})")
        context = self.whole(x, Mask())
        silent, state = self.silent(context), self.begin(len(x))
        outs: list[Tensor] = []
        weights: list[Tensor] = []
        for now in x.unbind(1):
            hidden, state = self.moved(now, state, silent)
            outs.append(torch.cat([hidden, state.memory.read], -1))
            weights.append(state.memory.weights)
        self.tell(context, weights)
        logits: Tensor = self.out(torch.stack(outs, 1))
        return logits

    def tell(self, context: Context, weights: list[Tensor]) -> None:
        """Let a watcher see where the heads were at every step, (B, heads, T, N)."""
        readers, there = self.memory.readers, context.enter(PLACE)
        there.see("read", lambda: torch.stack([step[:, :readers] for step in weights], 2))
        there.see("write", lambda: torch.stack([step[:, readers:] for step in weights], 2))

    def silent(self, context: Context) -> Tensor | None:
        """(H, 1): zero for heads that are to do nothing; None where all of them work."""
        quiet = [context.enter(PLACE).silent(role) for role in ROLES]
        if not any(quiet):
            return None
        works = [
            head not in heads for role, heads in zip(ROLES, quiet, strict=True) for head in range(self.count(role))
        ]
        like = next(self.parameters())
        return torch.tensor(works, device=like.device, dtype=like.dtype).unsqueeze(-1)

    def count(self, role: str) -> int:
        return self.memory.readers if role == "read" else self.memory.writers

    def attention_heads(self) -> dict[str, int]:
        return {f"{PLACE}.{role}": self.count(role) for role in ROLES}

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        return (torch.zeros(batch, length, self.config.inputs),)
