"""An output layer that starts as the best that can be made of vectors as they are."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from regard.training.heads import PENALTY, regression


def test_nothing_is_better_than_the_regression_finds() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(300, 5, dtype=torch.float64) * torch.tensor([1, 5, 0.1, 1, 1]) + 40  # much alike
    right = (vectors[:, 0] + 0.3 * vectors[:, 1] + torch.randn(300) > 52).long() + 2 * (vectors[:, 2] > 40).long()
    weight, bias = regression(vectors, right, 4)
    weight.requires_grad_()
    bias.requires_grad_()
    penalty = PENALTY / len(right) * (weight * vectors.std(0)).square().sum()
    loss = F.cross_entropy(vectors @ weight.t() + bias, right) + penalty
    slope = torch.autograd.grad(loss, [weight, bias])
    assert (slope[0] - slope[1].unsqueeze(1) * vectors.mean(0)).abs().max() < 1e-3
    assert slope[1].abs().max() < 1e-4
    found = (vectors @ weight.t() + bias).argmax(-1)
    assert (found == right).double().mean() > 0.75
