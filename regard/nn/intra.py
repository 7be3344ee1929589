"""Intra-attention: an LSTM whose one memory cell is a tape, read by attention at every step.

Cheng, Dong and Lapata 2016, arXiv:1601.06733, equations 4 to 9.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.attention.kernel import masked_softmax
from regard.nn.context import Context
from regard.nn.cost import Cost, Shape, total
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
        entered = self.enter(x)
        matrices = (self.recall.weight, self.key.weight, self.gates.weight, self.v)
        share = 0.0 if context.silent(NAME) else 1.0
        with torch.autocast(entered.device.type, enabled=False):
            states, weights = Tape.apply(entered, *(weight.to(entered.dtype) for weight in matrices), share)  # type: ignore[no-untyped-call]
        context.see(NAME, lambda: weights.unsqueeze(1))
        read: Tensor = states
        return read

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

    def cost(self, shape: Shape) -> Cost:
        """A step's pairs are those with the steps before it; weights, gates and tape are kept for all of them."""
        matrices = total([layer.cost(shape.tokens) for layer in (self.enter, self.key, self.gates)])
        later = shape.batch * (shape.length - 1)
        pairs = later * shape.length // 2
        looks = Cost(later * self.hidden**2 + pairs * 3 * self.hidden)
        kept = shape.tokens * (5 + 1 + 2 + 2 + 4) * self.hidden + shape.tokens * shape.length
        return matrices + looks + Cost(kept=kept)


def matched(query: Tensor, keys: Tensor, v: Tensor, room: Tensor | None = None) -> Tensor:
    """The scores (B, S) of keys (B, S, H); `room` is memory to work in, as long as they."""
    return (near(query, keys, room).view(-1, len(v)) @ v.unsqueeze(1)).view(keys.shape[:2])


def near(query: Tensor, keys: Tensor, room: Tensor | None) -> Tensor:
    """tanh(keys + query); new memory for each step would cost more than the sum."""
    if room is None:
        return (keys + query.unsqueeze(1)).tanh()
    return torch.add(keys, query.unsqueeze(1), out=room[: keys.numel()].view(keys.shape)).tanh_()


def cell(gates: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """From what enters the gates (B, 4H) and c~ (B, H): h, c, and the opened gates (B, 4H)."""
    size = kept.shape[-1]
    opened = torch.cat([gates[:, : 3 * size].sigmoid(), gates[:, 3 * size :].tanh()], -1)
    i, f, o, new = opened.chunk(4, -1)
    c = f * kept + i * new
    return o * c.tanh(), c, opened


class Tape(torch.autograd.Function):
    """The recurrence of one layer with its gradient by hand.

    Left to autograd, each step would copy the tape so far, and its gradient would be added up from as many pieces: a
    number of operations that grows with the square of the length. Here a step is a few operations on one tape. tanh of
    every pair is made again in the backward pass rather than kept.
    """

    @staticmethod
    def forward(
        ctx: Any, entered: Tensor, recall: Tensor, key: Tensor, gates: Tensor, v: Tensor, share: float
    ) -> tuple[Tensor, Tensor]:
        batch, length, _ = entered.shape
        size = len(v)
        keys, tape = entered.new_empty(batch, length, size), entered.new_empty(batch, length, 2 * size)
        mixed, opened = entered.new_zeros(batch, length, 2 * size), entered.new_empty(batch, length, 4 * size)
        weights, room = entered.new_zeros(batch, length, length), entered.new_empty(batch * length * size)
        for t in range(length):
            if t:
                query = torch.addmm(entered[:, t, :size], mixed[:, t - 1, :size], recall.t())
                s = matched(query, keys[:, :t], v, room).softmax(-1)
                weights[:, t, :t] = s
                mixed[:, t] = torch.bmm(s.unsqueeze(1), tape[:, :t]).squeeze(1) * share
            into = torch.addmm(entered[:, t, size:], mixed[:, t, :size], gates.t())
            tape[:, t, :size], tape[:, t, size:], opened[:, t] = cell(into, mixed[:, t, size:])
            torch.mm(tape[:, t, :size], key.t(), out=keys[:, t])
        ctx.share = share
        ctx.save_for_backward(entered, recall, key, gates, v, keys, tape, mixed, opened, weights)
        ctx.mark_non_differentiable(weights)
        return tape[..., :size].clone(), weights

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        entered, recall, key, gates, v, keys, tape, mixed, opened, weights = ctx.saved_tensors
        batch, length, size = grad.shape
        d_entered, d_keys, d_tape = torch.empty_like(entered), torch.zeros_like(keys), torch.zeros_like(tape)
        d_v, d_last = torch.zeros_like(v), grad.new_zeros(batch, size)
        rooms = grad.new_empty(2, batch * length * size)
        for t in range(length - 1, -1, -1):
            i, f, o, new = opened[:, t].chunk(4, -1)
            bent = tape[:, t, size:].tanh()
            d_h = torch.addmm(grad[:, t] + d_tape[:, t, :size], d_keys[:, t], key)
            d_c = d_tape[:, t, size:] + d_h * o * (1 - bent * bent)
            into = d_entered[:, t, size:]
            into[:, :size] = d_c * new * i * (1 - i)
            into[:, size : 2 * size] = d_c * mixed[:, t, size:] * f * (1 - f)
            into[:, 2 * size : 3 * size] = d_h * bent * o * (1 - o)
            into[:, 3 * size :] = d_c * i * (1 - new * new)
            if not t:
                d_entered[:, t, :size] = 0
                break
            d_mixed = torch.cat([torch.addmm(d_last, into, gates), d_c * f], -1) * ctx.share
            s = weights[:, t, :t]
            d_tape[:, :t].baddbmm_(s.unsqueeze(2), d_mixed.unsqueeze(1))
            d_s = torch.bmm(tape[:, :t], d_mixed.unsqueeze(2)).squeeze(2)
            d_a = s * (d_s - (s * d_s).sum(-1, keepdim=True))
            query = torch.addmm(entered[:, t, :size], mixed[:, t - 1, :size], recall.t())
            bends = near(query, keys[:, :t], rooms[0])
            d_v += d_a.reshape(-1) @ bends.reshape(-1, size)
            d_pairs = torch.mul(d_a.unsqueeze(2), v, out=rooms[1][: bends.numel()].view(bends.shape))
            d_pairs.addcmul_(d_pairs, bends.mul_(bends), value=-1)
            d_keys[:, :t] += d_pairs
            d_entered[:, t, :size] = d_pairs.sum(1)
            d_last = d_entered[:, t, :size] @ recall
        looks, into = d_entered[:, 1:, :size].flatten(0, 1), d_entered[..., size:].flatten(0, 1)
        return (
            d_entered,
            looks.t() @ mixed[:, :-1, :size].flatten(0, 1),
            d_keys.flatten(0, 1).t() @ tape[..., :size].flatten(0, 1),
            into.t() @ mixed[..., :size].flatten(0, 1),
            d_v,
            None,
        )


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

    def names(self, place: str) -> list[str]:
        return [f"{place}.{index}.{NAME}" for index in range(len(self.layers))]

    def cost(self, shape: Shape) -> Cost:
        return total([layer.cost(shape) for layer in self.layers if isinstance(layer, IntraLayer)])
