"""What is taken of the positions that attention weighs: their expectation (soft), or a single one of them (hard)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import Part, Rate, Weight
from regard.nn.call.context import Context
from regard.nn.call.gathering import Outcome

NOT_DRAWN = -1  # among what was drawn, where a row was read softly


@dataclass(frozen=True)
class ChoiceConfig(Part, family="choice"):
    """What is taken of weighed positions."""

    def build(self) -> ChoiceModule:
        raise TypeError(f"{type(self).__name__} is a family, not a choice")


class ChoiceModule(nn.Module):
    """Chances (R, 1, T, S) of positions → the weights by which they are taken. Soft: the chances themselves.

    `draws` says whether it draws now.
    """

    @property
    def draws(self) -> bool:
        return False

    def forward(self, chances: Tensor, context: Context) -> Tensor:
        return chances

    def settle(self, role: str, chances: Tensor, weights: Tensor, context: Context) -> None:
        """After a pass that drew, with all its steps: leave what was drawn, and what is to be added to the loss."""


@dataclass(frozen=True)
class Soft(ChoiceConfig, kind="soft"):
    """The expectation over all positions."""

    def build(self) -> ChoiceModule:
        return ChoiceModule()


@dataclass(frozen=True)
class Hard(ChoiceConfig, kind="hard"):
    """One position: drawn while training, the most likely one after it. Xu et al. 2015, arXiv:1502.03044, section 4.1.

    Drawing has no gradient, so the chances learn by the score-function estimator (Williams 1992): log p of a draw
    grows with its reward, the log-likelihood of the target words, less a baseline: the moving average of past words,
    which forgets at rate 1 - `decay`. A draw is rewarded by the whole "row", as in the paper, or by the "rest", the
    words from it on, as earlier ones cannot depend on it: the same mean, less variance. `entropy` weighs a bonus for
    undecided chances, `weight` the reward: one gives the exact gradient's mean, less gives it less say beside the
    gradients that do not vary. The share `expected` of the rows is read softly instead, which steadies learning.
    """

    reward: Literal["row", "rest"] = "rest"
    weight: Weight = 0.1
    decay: Rate = 0.9
    entropy: Weight = 0.002
    expected: Rate = 0.5

    def build(self) -> ChoiceModule:
        return HardChoice(self)


class HardChoice(ChoiceModule):
    """`baseline` holds two moving averages, of log-likelihoods and of ones: their quotient is not pulled to the zero
    that both start from."""

    def __init__(self, config: Hard) -> None:
        super().__init__()
        self.config = config
        self.baseline: Tensor
        self.register_buffer("baseline", torch.zeros(2))

    def reset_parameters(self) -> None:
        self.baseline.zero_()

    @property
    def draws(self) -> bool:
        return self.training

    def forward(self, chances: Tensor, context: Context) -> Tensor:
        if not self.draws:
            return one_hot(chances.argmax(-1), chances)
        drawn = torch.multinomial(chances.detach().float().flatten(0, -2), 1)
        weights = one_hot(drawn.view(chances.shape[:-1]), chances)
        if not self.config.expected:
            return weights
        soft = context.geometry.once((self, "expected"), lambda: self.soft_rows(chances))
        return torch.where(soft, chances, weights)

    def soft_rows(self, chances: Tensor) -> Tensor:
        """(R, 1, 1, 1): which rows are read softly, in all steps of a pass."""
        return torch.rand(len(chances), 1, 1, 1, device=chances.device) < self.config.expected

    def settle(self, role: str, chances: Tensor, weights: Tensor, context: Context) -> None:
        soft: Tensor | None = context.geometry.memo.get((self, "expected"))
        drawn = chances.new_ones(chances.shape[:-1], dtype=torch.bool) if soft is None else ~soft.squeeze(-1)
        context.samples[context.place(role)] = weights.argmax(-1).masked_fill(~drawn, NOT_DRAWN)
        context.leave(
            role, lambda outcome: self.loss(chances.squeeze(1), weights.squeeze(1), drawn.squeeze(1), outcome)
        )

    def loss(self, chances: Tensor, weights: Tensor, drawn: Tensor, outcome: Outcome) -> Tensor:
        """The loss whose gradient is the estimator's, of chances and weights (B, T, S), of which some were `drawn`.

        It is a mean over all real words, as extra losses are, also over those that were read softly: so a word learns
        by its draw as much as by its loss. Its value would say nothing, so it is zero: the loss that people see stays
        that of the words. Chances may sum to less than one (a Gaussian window): they are drawn in proportion.
        """
        shares = chances / chances.sum(-1, keepdim=True)
        logs = shares.clamp(min=torch.finfo(shares.dtype).tiny).log()
        chosen = (logs * weights.detach()).sum(-1)  # (B, T): log p of what was drawn
        spread = -(shares * logs).sum(-1)
        gain = self.gain(outcome).to(shares.dtype)
        self.remember(outcome)
        wanted = ((self.config.weight * gain * chosen + self.config.entropy * spread) * (outcome.real & drawn)).sum()
        mean = wanted / outcome.real.sum().clamp(min=1)
        return mean.detach() - mean

    @torch.no_grad()
    def gain(self, outcome: Outcome) -> Tensor:
        """(B, T): how much better than expected it went after each draw."""
        mean, weight = self.baseline.unbind()
        expected = mean / weight.clamp(min=torch.finfo(weight.dtype).tiny)
        better = outcome.log_likelihood - expected * outcome.real
        if self.config.reward == "row":
            return better.sum(-1, keepdim=True).expand_as(better)
        return better.flip(-1).cumsum(-1).flip(-1)

    @torch.no_grad()
    def remember(self, outcome: Outcome) -> None:
        mean = outcome.log_likelihood.sum() / outcome.real.sum().clamp(min=1)
        self.baseline.lerp_(torch.stack([mean, torch.ones_like(mean)]).to(self.baseline.dtype), 1 - self.config.decay)


def one_hot(places: Tensor, like: Tensor) -> Tensor:
    """(…, S) of the shape of `like`: one at each place (…), nothing elsewhere."""
    return torch.zeros_like(like).scatter_(-1, places.unsqueeze(-1), 1.0)
