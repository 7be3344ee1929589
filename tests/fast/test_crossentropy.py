"""The cross-entropy that never builds all logits."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.fast import crossentropy
from regard.fast.crossentropy import linear_cross_entropy

ROWS, WIDTH, WORDS = 37, 12, 50


def inputs(bias: bool, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    shapes = [(ROWS, WIDTH), (WORDS, WIDTH)] + ([(WORDS,)] if bias else [])
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("cap", [None, 3.0])
@pytest.mark.parametrize("slice_size", [1, 3 * WORDS, 1 << 20])
def test_the_sliced_loss_equals_pytorchs(  # type: ignore[no-untyped-def]
    bias: bool, smoothing: float, cap: float | None, slice_size: int, monkeypatch
) -> None:
    monkeypatch.setattr(crossentropy, "LOGITS_AT_ONCE", slice_size)
    leaves = inputs(bias)
    twins = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    targets = torch.randint(0, WORDS, (ROWS,))
    targets[[3, 20]] = -100
    loss = linear_cross_entropy(leaves[0], leaves[1], leaves[2] if bias else None, targets, smoothing, cap=cap)
    logits = F.linear(*twins) if cap is None else cap * (F.linear(*twins) / cap).tanh()
    expected = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected)
    (loss * 3).backward()
    (expected * 3).backward()
    for leaf, twin in zip(leaves, twins, strict=True):
        torch.testing.assert_close(leaf.grad, twin.grad)


@pytest.mark.parametrize("cap", [None, 3.0])
def test_the_sliced_loss_passes_gradcheck(cap: float | None) -> None:
    targets = torch.randint(0, WORDS, (ROWS,))

    def loss(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return linear_cross_entropy(hidden, weight, bias, targets, 0.1, cap=cap)

    assert torch.autograd.gradcheck(loss, inputs(bias=True))


def test_extreme_logits_give_a_finite_loss() -> None:
    hidden = torch.tensor([[1e4], [-1e4]], requires_grad=True)
    loss = linear_cross_entropy(hidden, torch.tensor([[1.0], [-1.0]]), None, torch.tensor([1, 1]))
    assert loss.item() == pytest.approx(2e4)
    loss.backward()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_loss_of_half_precision_states_is_single_precision(dtype: torch.dtype) -> None:
    leaves = inputs(bias=True, dtype=dtype)
    targets = torch.randint(0, WORDS, (ROWS,))
    loss = linear_cross_entropy(*leaves, targets)
    exact = F.cross_entropy(F.linear(*[leaf.float() for leaf in leaves]), targets, reduction="sum")
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact, rtol=2e-2, atol=0)
    loss.backward()
    assert all(leaf.grad is not None and leaf.grad.dtype == dtype for leaf in leaves)


def test_the_loss_works_under_autocast() -> None:
    leaves = inputs(bias=False, dtype=torch.float32)
    targets = torch.randint(0, WORDS, (ROWS,))
    expected = linear_cross_entropy(*leaves, None, targets)
    with torch.autocast("cpu", torch.bfloat16):
        loss = linear_cross_entropy(*leaves, None, targets)
    torch.testing.assert_close(loss, expected, rtol=2e-2, atol=0)
    loss.backward()
    assert leaves[0].grad is not None
    assert leaves[0].grad.dtype == torch.float32
