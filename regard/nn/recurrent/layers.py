"""Recurrent layers on PyTorch's own kernels: whole sequences at once, or step by step with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.nn.call.masks import real_tokens

Cell = Literal["rnn", "gru", "lstm"]
States = tuple[Tensor, ...]  # (B, layers · directions, H) each: one, or two for an LSTM

KERNELS: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


class RecurrentLayers(nn.Module):
    """(B, T, D) → (B, T, H · directions), and the states after the last token.

    Elman 1990; Hochreiter and Schmidhuber 1997; Cho et al. 2014, arXiv:1406.1078.
    """

    def __init__(
        self, cell: Cell, width: int, hidden: int, layers: int, dropout: float, bidirectional: bool = False
    ) -> None:
        super().__init__()
        self.cell, self.width, self.hidden, self.layers = cell, width, hidden, layers
        self.directions = 2 if bidirectional else 1
        between = dropout if layers > 1 else 0.0  # PyTorch drops between layers alone
        self.kernel = KERNELS[cell](
            width, hidden, layers, batch_first=True, dropout=between, bidirectional=bidirectional
        )

    def forward(self, x: Tensor, states: States | None = None, keep: Tensor | None = None) -> tuple[Tensor, States]:
        """`keep` (B, T) tells real tokens, which come first; padding has no say in either direction."""
        start = None if states is None else self._theirs(states)
        if keep is None:
            out, after = self.kernel(x, start)
        else:
            packed = pack_padded_sequence(x, lengths_of(keep), batch_first=True, enforce_sorted=False)
            packed_out, after = self.kernel(packed, start)
            out, _ = pad_packed_sequence(packed_out, batch_first=True, total_length=x.shape[1])
        return out, self._ours(after)

    def outputs(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """What `forward` gives first."""
        return self.forward(x, keep=keep)[0]

    def step(self, x: Tensor, states: States) -> tuple[Tensor, States]:
        """One token (B, D) in one direction: what `forward` does with a sequence of one."""
        out, after = self.forward(x.unsqueeze(1), states)
        return out.squeeze(1), after

    def _theirs(self, states: States) -> Tensor | tuple[Tensor, ...]:
        turned = tuple(state.transpose(0, 1).contiguous() for state in states)
        return turned if self.cell == "lstm" else turned[0]

    def _ours(self, states: Tensor | tuple[Tensor, ...]) -> States:
        return tuple(state.transpose(0, 1) for state in (states if isinstance(states, tuple) else (states,)))


def places_from_the_end(x: Tensor, keep: Tensor | None) -> Tensor:
    """(B, T): the places of each row from its own end on; those of padding stay."""
    places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    if keep is None:
        return places.flip(1)
    return torch.where(keep, lengths_of(keep).to(x.device)[:, None] - 1 - places, places)


def rows_of(x: Tensor, places: Tensor) -> Tensor:
    """(B, T, D) in the order of `places` (B, T); whole vectors are moved, which is quicker than value by value."""
    starts = torch.arange(len(x), device=x.device)[:, None] * x.shape[1]
    return x.flatten(0, 1).index_select(0, (starts + places).flatten()).view(x.shape)


def lengths_of(keep: Tensor) -> Tensor:
    """(B,) on the CPU, where PyTorch wants them; a row whose real tokens do not come first is refused."""
    lengths = keep.sum(1)
    if not torch.equal(real_tokens(lengths, keep.shape[1]), keep):
        raise ValueError("a recurrent model takes rows whose padding comes last")
    if int(lengths.min()) < 1:
        raise ValueError("a row without a token cannot be read by a recurrent model")
    return lengths.cpu()
