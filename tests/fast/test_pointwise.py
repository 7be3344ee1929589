"""Layers with gradients by hand equal their plain formulas, in values and gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from regard.fast import quicken
from regard.fast.pointwise import squared_relu, turn_halves
from regard.nn.norms import RMSNorm

ANGLES = torch.randn(5, 4, dtype=torch.float64)
WEIGHT = torch.randn(8, dtype=torch.float64)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """By the quick layer."""
    layer = quicken(RMSNorm(eps).build(len(weight)))
    return functional_call(layer, {"weight": weight}, (x,))  # type: ignore[no-any-return]


def plain_turn(x: Tensor) -> Tensor:
    pairs = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(ANGLES), ANGLES)
    return torch.cat([pairs.real, pairs.imag], -1)


LAYERS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "rms norm": (
        lambda x: rms_norm(x, WEIGHT, 1e-3),
        lambda x: x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt() * WEIGHT,
    ),
    "squared relu": (squared_relu, lambda x: x.clamp(min=0) ** 2),
    "turn": (lambda x: turn_halves(x, ANGLES.cos(), ANGLES.sin()), plain_turn),
}
every_layer = pytest.mark.parametrize(("ours", "plain"), LAYERS.values(), ids=LAYERS)


@every_layer
def test_it_equals_its_formula_and_its_gradient(ours, plain) -> None:  # type: ignore[no-untyped-def]
    for x in (torch.randn(3, 2, 5, 8), torch.randn(3, 5, 2, 8).transpose(1, 2), torch.randn(3, 2, 5, 24)[..., 8:16]):
        one, other = (x.double().requires_grad_() for _ in range(2))
        result, expected = ours(one), plain(other)
        torch.testing.assert_close(result, expected)
        upstream = torch.randn_like(result)
        result.backward(upstream)
        expected.backward(upstream)
        torch.testing.assert_close(one.grad, other.grad)


@every_layer
def test_it_passes_gradcheck(ours, plain) -> None:  # type: ignore[no-untyped-def]
    assert torch.autograd.gradcheck(ours, torch.randn(2, 1, 5, 8, dtype=torch.float64, requires_grad=True))


def test_the_weight_of_a_norm_has_its_gradient() -> None:
    x = torch.randn(4, 8, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda w: rms_norm(x, w, 1e-6), WEIGHT.clone().requires_grad_())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_gives_nearly_the_same(dtype: torch.dtype) -> None:
    x = torch.randn(3, 5, 8)
    for half, exact in (
        (rms_norm(x.to(dtype), torch.ones(8, dtype=dtype), 1e-6), rms_norm(x, torch.ones(8), 1e-6)),
        (squared_relu(x.to(dtype)), squared_relu(x)),
    ):
        assert half.dtype == dtype
        torch.testing.assert_close(half.float(), exact, rtol=0.02, atol=0.02)
