"""A residual wiring of one's own.

    python -m pytest tests/contracts --import examples/rezero.py -k rezero
    regard train lm --import examples/rezero.py --residual rezero --zero-outputs false \
        --train my.txt --valid valid.txt --run runs/rezero

`gpt-tiny` starts the matrices that write to the stream at zero, which is the same idea: with both, neither would get a
gradient, hence `--zero-outputs false`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.nn.call.context import Context
from regard.nn.norms import NormConfig
from regard.nn.residual import ResidualConfig, Sublayer, Wiring


@dataclass(frozen=True)
class ReZero(ResidualConfig, kind="rezero"):
    """x + alpha f(x), without a norm; alpha is zero at first. Bachlechner et al. 2020, arXiv:2003.04887"""

    def build(self, width: int, norm: NormConfig) -> Wiring:
        return ReZeroWiring(width, None, self.dropout)


class ReZeroWiring(Wiring):
    def __init__(self, width: int, norm: NormConfig | None, dropout: float) -> None:
        super().__init__(width, norm, dropout)
        self.alpha = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.alpha)

    def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
        return self.dropout.add(x, self.alpha * sublayer(x, context))
