"""A memory that is read and written by attention: the heads of a neural Turing machine.

Graves et al. 2014, arXiv:1410.5401, section 3. Heads of all kinds are addressed together, so that a step of time costs
few operations. `N` slots, each `M` wide; `H` heads; B rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.linear import Linear

EMPTY_SLOT = 1e-6  # what slots hold at first: constant and small learns fastest, arXiv:1807.08518


# --- addressing, step by step -----------------------------------------------------------------------------------------


def content(keys: Tensor, strength: Tensor, memory: Tensor) -> Tensor:
    """Softmax of β cos(k, M(i)) over the slots (equations 5 and 6): keys (B, H, M), strength (B, H, 1) → (B, H, N)."""
    key, slot = keys.norm(dim=-1, keepdim=True), memory.norm(dim=-1).unsqueeze(1)  # dividing products is less work
    likeness: Tensor = keys @ memory.transpose(1, 2) / (key * slot).clamp(min=tiny(keys.dtype))
    return (strength * likeness).softmax(-1)


def interpolate(found: Tensor, before: Tensor, gate: Tensor) -> Tensor:
    """g w_c + (1 - g) w_before (equation 7), gate (B, H, 1): whether what was found matters, or where the head was."""
    return before + gate * (found - before)


def turn(weights: Tensor, shifts: Tensor) -> Tensor:
    """The circular convolution w(i) = Σ_j w(j) s(i - j) (equation 8).

    `shifts` (B, H, 2r + 1) are the shares that move by -r … r slots; the memory is a ring.
    """
    reach = shifts.shape[-1] // 2
    rolled = torch.stack([weights.roll(by, -1) for by in range(-reach, reach + 1)], -2)  # (B, H, 2r + 1, N)
    return (shifts.unsqueeze(-2) @ rolled).squeeze(-2)


def sharpen(weights: Tensor, power: Tensor) -> Tensor:
    """w(i)^γ / Σ_j w(j)^γ (equation 9), power (B, H, 1) of at least one: undoes the blur of shifting."""
    return (power * (weights + tiny(weights.dtype)).log()).softmax(-1)


def written(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """Every head erases M(i) (1 - w(i) e), then every head adds w(i) a (equations 3 and 4).

    Weights (B, H, N), erase and add (B, H, M).
    """
    for w, e in zip(weights.unbind(1), erase.unbind(1), strict=True):
        memory = torch.addcmul(memory, memory, w.unsqueeze(-1) * e.unsqueeze(1), value=-1)
    return torch.baddbmm(memory, weights.transpose(1, 2), add)


def tiny(dtype: torch.dtype) -> float:
    """Below any weight that matters."""
    return max(1e-12, torch.finfo(dtype).tiny)


# --- the heads --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MemoryState:
    """The slots (B, N, M), where the heads are (B, H, N), and what the reading ones read last (B, readers · M)."""

    slots: Tensor
    weights: Tensor
    read: Tensor


class MemoryHeads(nn.Module):
    """`readers` reading and `writers` writing heads over a memory of `slots` slots of `width`, moved by a controller
    whose output is `hidden` wide. A head can move by at most `reach` slots a step."""

    def __init__(self, hidden: int, slots: int, width: int, readers: int, writers: int, reach: int) -> None:
        super().__init__()
        self.slots, self.width, self.readers, self.writers = slots, width, readers, writers
        self.shifts = 2 * reach + 1
        heads = readers + writers
        self.sizes = [heads * width, heads, heads, heads * self.shifts, heads, writers * width, writers * width]
        self.ask = Linear(hidden, sum(self.sizes), pieces=tuple(self.sizes))  # key, β, g, s, γ; erase, add
        self.first_read = nn.Parameter(torch.zeros(readers * width))

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.first_read)

    def begin(self, batch: int) -> MemoryState:
        """All slots alike, every head at the first."""
        like = self.first_read
        slots = like.new_full((batch, self.slots, self.width), EMPTY_SLOT)
        weights = like.new_zeros(batch, self.readers + self.writers, self.slots)
        weights[..., 0] = 1.0
        return MemoryState(slots, weights, self.first_read.tanh().expand(batch, -1))

    def forward(self, hidden: Tensor, state: MemoryState, silent: Tensor | None = None) -> MemoryState:
        """One step: the heads move, the writing ones write, then the reading ones read. `silent` (H, 1) is zero for
        heads that do nothing."""
        key, strength, gate, shifts, power, erase, add = self.ask(hidden).split(self.sizes, -1)
        heads = (len(hidden), self.readers + self.writers, -1)
        found = content(key.view(heads).tanh(), F.softplus(strength).view(heads), state.slots)
        moved = interpolate(found, state.weights, gate.sigmoid().view(heads))
        moved = turn(moved, shifts.view(heads).softmax(-1))
        weights = sharpen(moved, 1 + F.softplus(power).view(heads))
        used = weights if silent is None else weights * silent
        wide = (len(hidden), self.writers, self.width)
        slots = written(state.slots, used[:, self.readers :], erase.sigmoid().view(wide), add.tanh().view(wide))
        read = (used[:, : self.readers] @ slots).flatten(1)
        return replace(state, slots=slots, weights=weights, read=read)
