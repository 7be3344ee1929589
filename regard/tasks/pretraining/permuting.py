"""Permuted texts: which tokens are predicted, and which others each may see. XLNet's way, drawn anew each time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.data.tokenizers import Tokenizer
from regard.tasks.pretraining.masking import IGNORED


@dataclass(frozen=True)
class Permuted:
    """For tokens (B, T): what each place may see (B, T, T), the `places` (B, N) that are predicted, and the tokens that
    stand there, `IGNORED` behind the last of a row."""

    visible: Tensor
    places: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> Permuted:
        return Permuted(self.visible.to(device), self.places.to(device), self.targets.to(device))


class Permuting:
    """Predicts one token of `share`: the last ones of an order that is drawn for each row. Special tokens are never
    predicted.

    What is predicted are spans of 1 to `longest` tokens, each within a stretch of `share` times its length, and at
    least one token of a row. All other tokens stand first in the order: everyone sees them. Of the predicted ones each
    sees those before it in the order. Yang et al. 2019, arXiv:1906.08237, sections 2.3 and 3.1.
    """

    def __init__(self, tokenizer: Tokenizer, share: int = 6, longest: int = 5) -> None:
        self.share, self.longest = share, longest
        self.special = torch.zeros(tokenizer.vocabulary, dtype=torch.bool)
        self.special[sorted(tokenizer.specials)] = True

    def __call__(
        self, tokens: Tensor, keep: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Permuted:
        """Tokens (B, T) on the CPU, of which `keep` are real."""
        open_to_it = ~self.special[tokens] if keep is None else ~self.special[tokens] & keep
        chosen = self.spans(len(tokens), tokens.shape[1], generator) & open_to_it
        chance = torch.rand(tokens.shape, generator=generator)
        likeliest = chance.masked_fill(~open_to_it, -1).argmax(1, keepdim=True)
        chosen = chosen.scatter(
            1, likeliest, chosen.gather(1, likeliest) | (~chosen.any(1, True) & open_to_it.any(1, True))
        )
        order = torch.rand(tokens.shape, generator=generator)
        before = (order.unsqueeze(1) < order.unsqueeze(2)) & chosen.unsqueeze(2)  # (B, T, T): seen by those that ask
        counts = chosen.sum(1, keepdim=True)
        places = chosen.long().argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]
        real = torch.arange(places.shape[1]) < counts
        return Permuted(before | ~chosen.unsqueeze(1), places, tokens.gather(1, places).masked_fill(~real, IGNORED))

    def spans(self, batch: int, length: int, generator: torch.Generator | None) -> Tensor:
        """(B, T): whether a token is inside of a span."""
        most = length // self.share + 1
        sizes = torch.randint(1, self.longest + 1, (batch, most), generator=generator)
        stretches = sizes * self.share
        places = torch.rand(batch, most, generator=generator) * (stretches - sizes + 1)
        begins = stretches.cumsum(1) - stretches + places.long()
        steps = torch.zeros(batch, int(stretches.sum(1).max()) + 1, dtype=torch.long)
        steps.scatter_add_(1, begins, torch.ones_like(begins))
        steps.scatter_add_(1, begins + sizes, -torch.ones_like(begins))
        return steps.cumsum(1)[:, :length] > 0
