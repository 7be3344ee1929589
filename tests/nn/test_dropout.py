"""Dropout drops at its rate, keeps the expectation, and repeats itself from a seed."""

from __future__ import annotations

import pytest
import torch

from regard.nn.dropout import Dropout, drawing_from


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rate_is_met_and_the_expectation_kept(rate: float) -> None:
    x = torch.ones(1000, 1001)
    y = Dropout(rate)(x)
    assert y.eq(0).float().mean().item() == pytest.approx(rate, abs=0.002)
    assert y.mean().item() == pytest.approx(1, abs=0.02)
    kept = y[y != 0]
    assert kept.eq(kept[0]).all()
    assert kept[0].item() == pytest.approx(1 / (1 - rate), rel=1e-3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_every_precision_keeps_its_dtype_and_the_rate(dtype: torch.dtype) -> None:
    y = Dropout(0.1)(torch.ones(1000, 100, dtype=dtype))
    assert y.dtype == dtype
    assert len(y.unique()) == 2
    assert y.eq(0).double().mean().item() == pytest.approx(0.1, abs=0.005)


def test_a_tiny_rate_is_no_error() -> None:
    assert Dropout(1e-9)(torch.ones(1000)).sum() > 900


def test_neighbours_fall_independently() -> None:
    dropped = Dropout(0.5)(torch.ones(1_000_000)).eq(0).float()
    for shift in (1, 2, 3, 4, 64):
        both = (dropped[shift:] * dropped[:-shift]).mean().item()
        assert both == pytest.approx(0.25, abs=0.005)


def test_nothing_falls_in_eval_mode_or_at_rate_zero() -> None:
    x = torch.randn(5, 7)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x
    assert torch.equal(Dropout(0.5).eval().add(x, x), x + x)


def test_a_seed_repeats_it() -> None:
    x, dropout = torch.ones(3, 333), Dropout(0.3)
    torch.manual_seed(1)
    first = dropout(x)
    torch.manual_seed(1)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(dropout(x), first)


def test_a_generator_of_ones_own_repeats_it_and_leaves_the_global_one_alone() -> None:
    x, dropout = torch.ones(3, 333), Dropout(0.3)
    before = torch.get_rng_state()
    results = []
    for _ in range(2):
        with drawing_from(torch.Generator().manual_seed(5)):
            results.append(dropout(x))
    assert torch.equal(*results)
    assert torch.equal(torch.get_rng_state(), before)


def test_adding_is_dropping_and_adding() -> None:
    x, y, dropout = torch.randn(4, 9), torch.randn(4, 9, requires_grad=True), Dropout(0.4)
    torch.manual_seed(2)
    expected = x + dropout(y)
    torch.manual_seed(2)
    result = dropout.add(x, y)
    torch.testing.assert_close(result, expected)
    result.sum().backward()
    torch.testing.assert_close(y.grad, ((expected - x) / y).detach())
