"""Gated recurrent units over whole sequences on a CPU, all directions in one loop, their gradient by hand.

PyTorch's kernel multiplies for the gradient of its weights at every step, and on a CPU a step of a small layer is
mostly the calls it takes. Here a step back multiplies for the state alone, and all else is done once for the whole
sequence. Cho et al. 2014, arXiv:1406.1078, as PyTorch writes it: n = tanh(x_n + r · h_n), h' = (1 - z) n + z h.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def gru(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """What D directions make of their gates' inputs x (T, D, B, 3H), in the order r, z, n: states (T, D, B, H).

    `weight` (D, 3H, H) and `bias` (D, 3H) are those of the state before, which is zero at first. The steps are in
    their precision, also where products are in another: a state sums up all steps before.
    """
    with torch.autocast(x.device.type, enabled=False):
        states: Tensor = _GRU.apply(x.to(weight.dtype), weight, bias)  # type: ignore[no-untyped-call]
    return states


class _GRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        length, directions, batch, width = x.shape
        hidden = width // 3
        turned, extra = weight.transpose(1, 2), bias.unsqueeze(1)  # (D, H, 3H), (D, 1, 3H)
        states = x.new_zeros(length + 1, directions, batch, hidden)
        gates = torch.empty_like(x)  # r, z, n of every step
        before = x.new_empty(length, directions, batch, hidden)  # what n takes of the state before, r not yet applied
        for t in range(length):
            h = torch.baddbmm(extra, states[t], turned)  # (D, B, 3H)
            rz, n = gates[t, ..., : 2 * hidden], gates[t, ..., 2 * hidden :]
            torch.add(x[t, ..., : 2 * hidden], h[..., : 2 * hidden], out=rz).sigmoid_()
            before[t] = h[..., 2 * hidden :]
            torch.addcmul(x[t, ..., 2 * hidden :], rz[..., :hidden], before[t], out=n).tanh_()
            torch.lerp(n, states[t], rz[..., hidden:], out=states[t + 1])
        ctx.save_for_backward(weight, gates, before, states)
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        weight, gates, before, states = ctx.saved_tensors
        hidden = states.shape[-1]
        r, z, n = gates.chunk(3, -1)
        # How the gates follow the state's gradient, for all steps at once.
        to_z = (states[:-1] - n) * z * (1 - z)
        to_n = (1 - z) * (1 - n * n)
        to_r = before * r * (1 - r)
        at_x = torch.empty_like(gates)
        at_h = torch.empty_like(before)  # of n alone: r and z take the same from x and from the state
        first, last = weight[:, : 2 * hidden], weight[:, 2 * hidden :]
        later = torch.zeros_like(states[0])
        for t in reversed(range(len(gates))):
            own = upstream[t] + later
            dr, dz, dn = at_x[t].chunk(3, -1)
            torch.mul(own, to_n[t], out=dn)
            torch.mul(own, to_z[t], out=dz)
            torch.mul(dn, to_r[t], out=dr)
            torch.mul(dn, r[t], out=at_h[t])
            later = torch.baddbmm(own * z[t], at_x[t, ..., : 2 * hidden], first).baddbmm_(at_h[t], last)
        at_states = torch.cat([at_x[..., : 2 * hidden], at_h], -1).transpose(0, 1).flatten(1, 2)  # (D, T · B, 3H)
        entering = states[:-1].transpose(0, 1).flatten(1, 2)  # (D, T · B, H)
        return at_x, at_states.transpose(1, 2) @ entering, at_states.sum(1)
