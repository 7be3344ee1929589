"""Recurrent layers on PyTorch's own kernels: whole sequences at once, or step by step with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.nn.cost import Cost
from regard.nn.gru import gru

Cell = Literal["rnn", "gru", "lstm"]
States = tuple[Tensor, ...]  # (B, layers · directions, H) each: one, or two for an LSTM

KERNELS: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
SEQUENCES: dict[str, Callable[..., States]] = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}
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
        """What `forward` gives first, without the last states: then nothing needs to be packed, which a long sequence
        pays for many times over in training. What stands behind a row's end cannot reach it, and the way back begins
        at each row's own end."""
        by_hand = self.cell == "gru" and x.device.type == "cpu"
        if keep is None and not by_hand:
            out: Tensor = self.kernel(x)[0]
            return out
        turned = places_from_the_end(x, keep) if self.directions > 1 else None
        for layer in range(self.layers):
            if layer and self.training:
                x = nn.functional.dropout(x, self.kernel.dropout)
            ways = [x] if turned is None else [x, rows_of(x, turned)]
            read = self._gru(ways, layer) if by_hand else [self._one_way(way, layer, i) for i, way in enumerate(ways)]
            x = read[0] if turned is None else torch.cat([read[0], rows_of(read[1], turned)], -1)
        return x if keep is None else x.masked_fill(~keep[..., None], 0)

    def _weights(self, layer: int, way: int) -> list[Tensor]:
        return [getattr(self.kernel, f"{part}_l{layer}{'_reverse' * way}") for part in PARTS]

    def _one_way(self, x: Tensor, layer: int, way: int) -> Tensor:
        zeros = x.new_zeros(1, len(x), self.hidden)
        start = (zeros, zeros) if self.cell == "lstm" else zeros
        weights = self._weights(layer, way)
        out: Tensor = SEQUENCES[self.cell](x, start, weights, True, 1, 0.0, self.training, False, True)[0]
        return out

    def _gru(self, ways: list[Tensor], layer: int) -> list[Tensor]:
        weights = [self._weights(layer, way) for way in range(len(ways))]
        entering = [nn.functional.linear(x.transpose(0, 1), w[0], w[2]) for x, w in zip(ways, weights, strict=True)]
        states = gru(
            torch.stack(entering, 1), torch.stack([w[1] for w in weights]), torch.stack([w[3] for w in weights])
        )
        return [states[:, way].transpose(0, 1) for way in range(len(ways))]

    def step(self, x: Tensor, states: States) -> tuple[Tensor, States]:
        """One token (B, D) in one direction: what `forward` does with a sequence of one, without its set-up."""
        after: list[tuple[Tensor, ...]] = []
        for layer in range(self.layers):
            weights = [getattr(self.kernel, f"{part}_l{layer}") for part in PARTS]
            before = tuple(state[:, layer] for state in states)
            if self.cell == "lstm":
                new = tuple(torch.lstm_cell(x, before, *weights))
            elif self.cell == "gru":
                new = (torch.gru_cell(x, before[0], *weights),)
            else:
                new = (torch.rnn_tanh_cell(x, before[0], *weights),)
            after.append(new)
            x = new[0]
            if self.training and self.kernel.dropout and layer + 1 < self.layers:
                x = nn.functional.dropout(x, self.kernel.dropout)
        return x, tuple(torch.stack(parts, 1) for parts in zip(*after, strict=True))

    def _theirs(self, states: States) -> Tensor | tuple[Tensor, ...]:
        turned = tuple(state.transpose(0, 1).contiguous() for state in states)
        return turned if self.cell == "lstm" else turned[0]

    def _ours(self, states: Tensor | tuple[Tensor, ...]) -> States:
        return tuple(state.transpose(0, 1) for state in (states if isinstance(states, tuple) else (states,)))

    def cost(self, tokens: int) -> Cost:
        """Multiplications; what autograd keeps is PyTorch's affair, about the gates and the states."""
        gates, total, kept = GATES[self.cell] * self.hidden, 0, 0
        for layer in range(self.layers):
            width = self.width if layer == 0 else self.hidden * self.directions
            total += self.directions * gates * (width + self.hidden)
            kept += self.directions * (gates + 2 * self.hidden)
        return Cost(tokens * total, kept=tokens * kept)


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


PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def lengths_of(keep: Tensor) -> Tensor:
    """(B,) on the CPU, where PyTorch wants them; a row whose real tokens do not come first is refused."""
    lengths = keep.sum(1)
    first = torch.arange(keep.shape[1], device=keep.device) < lengths[:, None]
    if not torch.equal(first, keep):
        raise ValueError("a recurrent model takes rows whose padding comes last")
    if int(lengths.min()) < 1:
        raise ValueError("a row without a token cannot be read by a recurrent model")
    return lengths.cpu()
