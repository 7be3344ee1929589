"""Recurrent layers without packing: equal to PyTorch's packed kernels, in values and in gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.fast import quicken
from regard.nn.call.masks import real_tokens
from regard.nn.recurrent.layers import Cell, RecurrentLayers

LENGTHS = torch.tensor([9, 5, 1, 7])


def layers(cell: Cell, bidirectional: bool) -> RecurrentLayers:
    return quicken(RecurrentLayers(cell, 7, 5, layers=2, dropout=0.0, bidirectional=bidirectional).double())


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("keep", [real_tokens(LENGTHS, 9), None], ids=["padded", "whole"])
def test_outputs_and_their_gradients_are_those_of_the_packed_kernel(
    cell: Cell, bidirectional: bool, keep: Tensor | None
) -> None:
    kernel = layers(cell, bidirectional)
    x = torch.randn(4, 9, 7, dtype=torch.float64, requires_grad=True)
    toward = torch.randn(4, 9, 5 * kernel.directions, dtype=torch.float64)
    expected, found = kernel(x, keep=keep)[0], kernel.outputs(x, keep)
    torch.testing.assert_close(found, expected)
    inputs = [x, *kernel.parameters()]
    theirs = torch.autograd.grad((expected * toward).sum(), inputs)
    ours = torch.autograd.grad((found * toward).sum(), inputs)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_what_stands_in_the_padding_is_never_read() -> None:
    kernel, keep, x = layers("gru", True), real_tokens(LENGTHS, 9), torch.randn(4, 9, 7, dtype=torch.float64)
    other = torch.where(keep[..., None], x, 1e6)
    assert torch.equal(kernel.outputs(x, keep), kernel.outputs(other, keep))


def test_a_gradient_by_hand_is_that_of_small_differences() -> None:
    from regard.fast.gru import gru

    x = torch.randn(4, 2, 3, 9, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 9, 3, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(2, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gru, (x, weight, bias))


def test_dropout_falls_between_layers_in_training_alone() -> None:
    kernel = quicken(RecurrentLayers("gru", 7, 5, layers=2, dropout=0.5))
    x = torch.randn(2, 6, 7)
    assert not torch.equal(kernel.outputs(x), kernel.outputs(x))
    kernel.eval()
    assert torch.equal(kernel.outputs(x), kernel.outputs(x))
