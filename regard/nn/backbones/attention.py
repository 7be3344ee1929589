"""Attention within a convolutional network: each place of the grid looks at all others."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.nn.backbones.base import GridConvolution

NARROWER = 8  # queries and keys have an eighth of the channels


class GridAttention(nn.Module):
    """x + γ · attention(x), where γ is 0 at first, so that the network around it learns as it did without.

    Three convolutions over single places make queries, keys and values; the score is q·k, not divided by its root.
    Zhang et al. 2019, arXiv:1805.08318, without their spectral norm.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        narrow = max(width // NARROWER, 1)
        self.query = GridConvolution(width, narrow, 1)
        self.key = GridConvolution(width, narrow, 1)
        self.value = GridConvolution(width, width, 1)
        self.gate = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.gate)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part(x).flatten(2).transpose(1, 2).unsqueeze(1) for part in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, scale=1.0)  # (B, 1, rows · columns, C)
        added: Tensor = self.gate * mixed.squeeze(1).transpose(1, 2).view(x.shape)
        return x + added

    def weights(self, x: Tensor) -> Tensor:
        """(B, 1, N, N): how much each of the N = rows · columns places takes of each other one."""
        q, k = (part(x).flatten(2).transpose(1, 2) for part in (self.query, self.key))
        scores: Tensor = q @ k.transpose(1, 2)
        return scores.softmax(-1).unsqueeze(1)
