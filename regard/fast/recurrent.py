"""Recurrent layers with less around their kernels: whole sequences without packing, single steps without set-up."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.fast import operators
from regard.fast.gru import gru
from regard.nn.recurrent.layers import RecurrentLayers, States, places_from_the_end, rows_of

PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")  # of a layer, as PyTorch names them


class FastRecurrentLayers(RecurrentLayers):
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
                x = F.dropout(x, self.kernel.dropout)
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
        out: Tensor = operators.SEQUENCES[self.cell](x, start, weights, True, 1, 0.0, self.training, False, True)[0]
        return out

    def _gru(self, ways: list[Tensor], layer: int) -> list[Tensor]:
        weights = [self._weights(layer, way) for way in range(len(ways))]
        entering = [F.linear(x.transpose(0, 1), w[0], w[2]) for x, w in zip(ways, weights, strict=True)]
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
            made = operators.CELLS[self.cell](x, before if self.cell == "lstm" else before[0], *weights)
            new = made if isinstance(made, tuple) else (made,)
            after.append(new)
            x = new[0]
            if self.training and self.kernel.dropout and layer + 1 < self.layers:
                x = F.dropout(x, self.kernel.dropout)
        return x, tuple(torch.stack(parts, 1) for parts in zip(*after, strict=True))
