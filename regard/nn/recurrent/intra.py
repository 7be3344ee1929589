"""Intra-attention: an LSTM whose one memory cell is a tape, read by attention at every step.

Cheng, Dong and Lapata 2016, arXiv:1601.06733, equations 4 to 9.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.attention.kernel import masked_softmax
from regard.nn.call.context import Context
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear, Matrix, normal_

NAME = "self"
HELD = "recalled"


class IntraLayer(nn.Module):
    """(B, T, D) → hidden states (B, T, H). A tape keeps every h_i and c_i; a step looks back at those before it:

    a_i = v · tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1}), s = softmax(a), h~_t = Σ s_i h_i, c~_t = Σ s_i c_i

    and h~_t, c~_t are to the gates of an LSTM what its last state would be. The first step has nothing to look back at.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.enter = Linear(width, 5 * hidden, pieces=(hidden,) * 5)  # W_x x_t, and the gates' part of x_t
        self.recall = Matrix(hidden, hidden, bias=False)  # W_h~
        self.key = Matrix(hidden, hidden, bias=False)  # W_h
        # Of h~_t: i, f, o, and the new c.
        self.gates = Matrix(hidden, 4 * hidden, bias=False, pieces=(hidden,) * 4)
        self.v = nn.Parameter(torch.empty(hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        normal_(self.v, std=self.hidden**-0.5)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """A whole sequence. Padding at its end is nobody's past, so it needs no mask."""
        states, weights = self.read(self.enter(x), share=0.0 if context.silent(NAME) else 1.0)
        context.see(NAME, lambda: weights.unsqueeze(1))
        return states

    def read(self, entered: Tensor, share: float) -> tuple[Tensor, Tensor]:
        """The hidden states (B, T, H), and how much of each step's h and c every step read (B, T, T). Of what it read
        a `share` is used."""
        batch, length, _ = entered.shape
        keys: list[Tensor] = []
        tape: list[Tensor] = []
        weights: list[Tensor] = []
        mixed = entered.new_zeros(batch, 2 * self.hidden)  # h~ and c~
        for step in range(length):
            s = entered.new_zeros(batch, 0)
            if step:
                query = entered[:, step, : self.hidden] + self.recall(mixed[:, : self.hidden])
                s = matched(query, torch.stack(keys, 1), self.v).softmax(-1)
                mixed = share * torch.bmm(s.unsqueeze(1), torch.stack(tape, 1)).squeeze(1)
            recalled, kept = mixed.chunk(2, -1)
            h, c, _ = cell(entered[:, step, self.hidden :] + self.gates(recalled), kept)
            keys.append(self.key(h))
            tape.append(torch.cat([h, c], -1))
            weights.append(F.pad(s, (0, length - step)))
        return torch.stack(tape, 1)[..., : self.hidden], torch.stack(weights, 1)

    def go_on(self, x: Tensor, context: Context) -> Tensor:
        """From the tape of a cache, which grows by these tokens; padding, at the end of a prompt, is never read."""
        assert context.cache is not None
        entered, keep = self.enter(x), context.geometry.mask.keys
        tape = context.cache.at(f"{context.name}.{NAME}")
        past, share = tape.length, 0.0 if context.silent(NAME) else 1.0
        held = context.cache.held(f"{context.name}.{HELD}")
        last = x.new_zeros(len(x), self.hidden) if held is None else held[0]
        states, seen = [], []
        for step in range(x.shape[1]):
            mixed, weights = x.new_zeros(len(x), 2 * self.hidden), x.new_zeros(len(x), 0)
            if known := tape.whole():
                query = entered[:, step, : self.hidden] + self.recall(last)
                hidden = None if keep is None else ~keep[:, : past + step]
                weights = masked_softmax(matched(query, known[0].squeeze(1), self.v), hidden)
                mixed = share * torch.bmm(weights.unsqueeze(1), known[1].squeeze(1)).squeeze(1)
            recalled, kept = mixed.chunk(2, -1)
            h, c, _ = cell(entered[:, step, self.hidden :] + self.gates(recalled), kept)
            tape.extend(self.key(h)[:, None, None], torch.cat([h, c], -1)[:, None, None])
            last = recalled if keep is None else torch.where(keep[:, past + step, None], recalled, last)
            states.append(h)
            seen.append(weights)
        context.cache.hold(f"{context.name}.{HELD}", last)
        length = tape.length
        rows = [F.pad(row, (0, length - row.shape[1])) for row in seen] if context.watcher is not None else []
        context.see(NAME, lambda: torch.stack(rows, 1).unsqueeze(1))
        return torch.stack(states, 1)


def matched(query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
    """The scores (B, S) of keys (B, S, H)."""
    return ((keys + query.unsqueeze(1)).tanh().flatten(0, 1) @ v.unsqueeze(1)).view(keys.shape[:2])


def cell(gates: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From what enters the gates (B, 4H) and c~ (B, H): h, c, and the opened gates (B, 4H)."""
    size = kept.shape[-1]
    opened = torch.cat([gates[:, : 3 * size].sigmoid(), gates[:, 3 * size :].tanh()], -1)
    i, f, o, new = opened.chunk(4, -1)
    c = f * kept + i * new
    return o * c.tanh(), c, opened


class IntraLayers(nn.Module):
    """Layers above each other, each with a tape of its own, dropout between them."""

    def __init__(self, width: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(IntraLayer(width if i == 0 else hidden, hidden) for i in range(layers))
        self.hidden, self.dropout = hidden, Dropout(dropout)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """(B, T, D) → (B, T, H), from a cache where the context has one."""
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, IntraLayer)
            inner, into = context.enter(str(index)), self.dropout(x) if index else x
            x = layer(into, inner) if context.cache is None else layer.go_on(into, inner)
        return x

    def attention_heads(self, name: str) -> dict[str, int]:
        return {f"{name}.{index}.{NAME}": 1 for index in range(len(self.layers))}
