"""Dropout, plain and quick, drops at its rate, keeps the expectation, and repeats itself from a seed."""

from __future__ import annotations

import pytest
import torch

from regard.fast.dropout import FastDropout, drawing_from
from regard.nn.dropout import Dropout

GOLDEN = [[1, 0, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]  # dropped of 3 × 5 values with the seed 1 at a rate of 0.3

plain_and_quick = pytest.mark.parametrize("kind", [Dropout, FastDropout])


@plain_and_quick
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rate_is_met_and_the_expectation_kept(kind: type[Dropout], rate: float) -> None:
    x = torch.ones(1000, 1001)
    y = kind(rate)(x)
    assert y.eq(0).float().mean().item() == pytest.approx(rate, abs=0.002)
    assert y.mean().item() == pytest.approx(1, abs=0.02)
    kept = y[y != 0]
    assert kept.eq(kept[0]).all()
    assert kept[0].item() == pytest.approx(1 / (1 - rate), rel=1e-3)


@plain_and_quick
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_every_precision_keeps_its_dtype_and_the_rate(kind: type[Dropout], dtype: torch.dtype) -> None:
    y = kind(0.1)(torch.ones(1000, 100, dtype=dtype))
    assert y.dtype == dtype
    assert len(y.unique()) == 2
    assert y.eq(0).double().mean().item() == pytest.approx(0.1, abs=0.005)


@plain_and_quick
def test_a_tiny_rate_is_no_error(kind: type[Dropout]) -> None:
    assert kind(1e-9)(torch.ones(1000)).sum() > 900


@plain_and_quick
def test_neighbours_fall_independently(kind: type[Dropout]) -> None:
    dropped = kind(0.5)(torch.ones(1_000_000)).eq(0).float()
    for shift in (1, 2, 3, 4, 64):
        both = (dropped[shift:] * dropped[:-shift]).mean().item()
        assert both == pytest.approx(0.25, abs=0.005)


@plain_and_quick
def test_nothing_falls_in_eval_mode_or_at_rate_zero(kind: type[Dropout]) -> None:
    x = torch.randn(5, 7)
    assert kind(0.5).eval()(x) is x
    assert kind(0.0)(x) is x
    assert torch.equal(kind(0.5).eval().add(x, x), x + x)


@plain_and_quick
def test_a_seed_repeats_it(kind: type[Dropout]) -> None:
    x, dropout = torch.ones(3, 333), kind(0.3)
    torch.manual_seed(1)
    first = dropout(x)
    torch.manual_seed(1)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(dropout(x), first)


def test_what_the_quick_one_draws_stays_the_same_over_versions() -> None:
    """Or a run would not resume as it went on."""
    torch.manual_seed(1)
    dropped = FastDropout(0.3)(torch.ones(3, 5)).eq(0)
    assert dropped.int().tolist() == GOLDEN


def test_a_generator_of_ones_own_repeats_it_and_leaves_the_global_one_alone() -> None:
    x, dropout = torch.ones(3, 333), FastDropout(0.3)
    before = torch.get_rng_state()
    results = []
    for _ in range(2):
        with drawing_from(torch.Generator().manual_seed(5)):
            results.append(dropout(x))
    assert torch.equal(*results)
    assert torch.equal(torch.get_rng_state(), before)


@plain_and_quick
def test_adding_is_dropping_and_adding(kind: type[Dropout]) -> None:
    x, y, dropout = torch.randn(4, 9), torch.randn(4, 9, requires_grad=True), kind(0.4)
    torch.manual_seed(2)
    expected = x + dropout(y)
    torch.manual_seed(2)
    result = dropout.add(x, y)
    torch.testing.assert_close(result, expected)
    result.sum().backward()
    torch.testing.assert_close(y.grad, ((expected - x) / y).detach())
