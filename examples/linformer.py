"""A kernel of one's own: attention to a few slots, whose number does not grow with the text.

    python -m pytest tests/contracts --import examples/linformer.py -k linformer
    regard train classify --import examples/linformer.py --preset bert-tiny --kernel linformer --rank 16 \
        --train texts.tsv --valid valid.tsv --run runs/linformer
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Size
from regard.errors import Error
from regard.nn.attention import Kernel, KernelConfig
from regard.nn.attention.kernel import spread
from regard.nn.call.context import Context
from regard.nn.positions import HeadDims, Position


@dataclass(frozen=True)
class Linformer(KernelConfig, kind="linformer"):
    """softmax(q (E k)') F v, where E and F make `rank` slots of a text of up to `length` tokens. Wang et al. 2020,
    arXiv:2006.04768; all heads of a layer share them."""

    rank: Size = 32
    length: Size = 512

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return LinformerKernel(dims, position, dropout, self.rank, self.length)


class LinformerKernel(Kernel):
    causal = False  # a slot holds something of every token
    slots = True

    def __init__(self, dims: HeadDims, position: Position, dropout: float, rank: int, length: int) -> None:
        super().__init__(dims, position, dropout)
        self.longest = length
        self.key = nn.Parameter(torch.empty(length, rank))
        self.value = nn.Parameter(torch.empty(length, rank))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in (self.key, self.value):
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)

    def ready(self, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor]:
        return self.projected(k, self.key, context), self.projected(v, self.value, context)

    def projected(self, x: Tensor, weight: Tensor, context: Context) -> Tensor:
        """(B, G, S, K) → (B, G, rank, K), by the places of the tokens; padding adds nothing."""
        places, keep = context.geometry.key_positions, self.real_keys(context)  # (S,) or (B, S); (B, S)
        if x.shape[2] > len(weight):
            raise Error(f"{x.shape[2]} tokens are more than the {len(weight)} that the kernel knows")
        chosen = weight[places] if keep is None else weight[places] * keep.unsqueeze(-1)  # (S, rank) or (B, S, rank)
        return (chosen if chosen.dim() == 2 else chosen.unsqueeze(1)).transpose(-1, -2) @ x

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """(B, H, T, rank)"""
        scores: Tensor = q @ spread(k, self.dims.heads).transpose(-1, -2) * self.dims.key_width**-0.5
        return scores
