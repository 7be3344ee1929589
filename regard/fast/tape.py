"""Intra-attention over a whole sequence, with its gradient by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.nn.recurrent.intra import IntraLayer, cell


class FastIntraLayer(IntraLayer):
    def read(self, entered: Tensor, share: float) -> tuple[Tensor, Tensor]:
        matrices = (self.recall.weight, self.key.weight, self.gates.weight, self.v)
        with torch.autocast(entered.device.type, enabled=False):
            states, weights = Tape.apply(entered, *(weight.to(entered.dtype) for weight in matrices), share)  # type: ignore[no-untyped-call]
        return states, weights


def matched(query: Tensor, keys: Tensor, v: Tensor, room: Tensor) -> Tensor:
    """The scores (B, S) of keys (B, S, H); `room` is memory to work in, as long as they."""
    return (near(query, keys, room).view(-1, len(v)) @ v.unsqueeze(1)).view(keys.shape[:2])


def near(query: Tensor, keys: Tensor, room: Tensor) -> Tensor:
    """tanh(keys + query); new memory for each step would cost more than the sum."""
    return torch.add(keys, query.unsqueeze(1), out=room[: keys.numel()].view(keys.shape)).tanh_()


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
