"""Optimisers step as their papers say, and their memory goes through named tensors and back."""

from __future__ import annotations

import pytest
import torch

from regard.training.muon import Muon, orthogonalise
from regard.training.optimisers import AdamW, MuonAndAdamW, scale_rates
from regard.training.schedules import Constant, Cosine, InverseRoot, StableDecay
from regard.training.state import put_state, state_tensors
from tests.helpers import PRESETS, feature_inputs


def trained(config, steps: int = 3):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    model = PRESETS["gpt2"].build()
    optimisers = config.build(model)
    (tokens,) = feature_inputs(model)
    for _ in range(steps):
        take_step(model, optimisers, tokens)
    return model, optimisers, tokens


def take_step(model, optimisers, tokens) -> None:  # type: ignore[no-untyped-def]
    model.head.loss(model.features(tokens), tokens).backward()
    for optimiser in optimisers:
        optimiser.step()
        optimiser.zero_grad()


def test_adamw_equals_pytorchs() -> None:
    ours, _, _ = trained(AdamW(rate=1e-2, decay=0.1))
    torch.manual_seed(0)
    theirs = PRESETS["gpt2"].build()
    groups = [
        {"params": [p for p in theirs.parameters() if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in theirs.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.98), eps=1e-9, fused=True)
    (tokens,) = feature_inputs(theirs)
    for _ in range(3):
        take_step(theirs, [optimiser], tokens)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_orthogonalised_matrices_have_singular_values_near_one() -> None:
    for shape in ((3, 16, 48), (2, 48, 16), (1, 20, 20)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
        assert values.min() > 0.5
        assert values.max() < 1.3


@pytest.mark.parametrize("shape", [(8, 72), (72, 8), (20, 20)])
def test_a_step_of_muon_is_as_large_as_one_of_adamw_whatever_the_shape(shape: tuple[int, int]) -> None:
    """A root mean square of about 0.2. arXiv:2502.16982, section 2.2"""
    weight = torch.nn.Parameter(torch.zeros(shape))
    weight.grad = torch.randn(shape)
    Muon([weight], {id(weight): shape[:1]}, rate=1.0, momentum=0.0, decay=0.0).step()
    assert weight.detach().square().mean().sqrt().item() == pytest.approx(0.2, rel=0.3)


def test_muon_looks_ahead_along_its_momentum_and_decays_before_it_steps() -> None:
    weight = torch.nn.Parameter(torch.randn(6, 9))
    muon = Muon([weight], {id(weight): (6,)}, rate=0.1, momentum=0.9, decay=0.5)
    expected, average = weight.detach().clone(), torch.zeros(6, 9)
    for _ in range(3):
        weight.grad = torch.randn(6, 9)
        average = 0.9 * average + 0.1 * weight.grad
        ahead = 0.1 * weight.grad + 0.9 * average
        expected = 0.95 * expected - 0.1 * 0.2 * 3 * orthogonalise(ahead[None])[0]
        muon.step()
    torch.testing.assert_close(weight.detach(), expected)


def test_muon_treats_fused_matrices_apart() -> None:
    weight = torch.nn.Parameter(torch.zeros(8, 16))
    weight.grad = torch.cat([torch.randn(4, 16), 1000 * torch.randn(4, 16)])
    muon = Muon([weight], {id(weight): (4, 4)}, rate=1.0, momentum=0.0, decay=0.0)
    muon.step()
    small, large = weight.detach().split(4)
    assert 0.5 < small.norm() / large.norm() < 2


def test_muon_takes_the_matrices_of_the_blocks_and_adamw_the_rest() -> None:
    model, (muon, adam), _ = trained(MuonAndAdamW(), steps=1)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    matrices = {names[id(p)] for group in muon.param_groups for p in group["params"]}
    others = {names[id(p)] for group in adam.param_groups for p in group["params"]}
    assert matrices | others == set(names.values())
    assert not matrices & others
    assert "decoder.blocks.0.attention.qkv.weight" in matrices
    assert "embedding.tokens.weight" in others


def test_the_memory_of_optimisers_survives_as_named_tensors() -> None:
    for config in (AdamW(), MuonAndAdamW()):
        model, optimisers, tokens = trained(config)
        saved = {name: tensor.clone() for name, tensor in state_tensors(optimisers, model).items()}
        weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        torch.manual_seed(7)
        take_step(model, optimisers, tokens)
        other = PRESETS["gpt2"].build()
        other.load_state_dict(weights)
        fresh = config.build(other)
        put_state(fresh, other, saved)
        torch.manual_seed(7)
        take_step(other, fresh, tokens)
        for mine, again in zip(model.parameters(), other.parameters(), strict=True):
            assert torch.equal(mine, again)


def test_schedules_warm_up_and_go_on_as_their_kind_says() -> None:
    for schedule in (Constant(warmup=10), Cosine(warmup=10), StableDecay(warmup=10), InverseRoot(warmup=10)):
        assert schedule.factor(5, 100) == 0.5
        assert schedule.factor(10, 100) == 1.0
    assert Constant(warmup=10).factor(99, 100) == 1.0
    assert InverseRoot(warmup=10).factor(40, 100) == 0.5
    assert Cosine(warmup=10, floor=0.1).factor(101, 100) == 0.1
    assert abs(Cosine(warmup=10).factor(55, 99) - 0.5) < 1e-9
    assert StableDecay(warmup=10, decay=0.2).factor(80, 100) == 1.0
    assert StableDecay(warmup=10, decay=0.2).factor(90, 99) == pytest.approx(0.5, abs=0.02)
    assert StableDecay(warmup=10, decay=0.2).factor(101, 100) == 0.0


@pytest.mark.parametrize("schedule", [Cosine(warmup=2), StableDecay(warmup=2), StableDecay(warmup=0, decay=0.9)])
@pytest.mark.parametrize("steps", [3, 10, 1000])
def test_no_step_is_wasted_on_a_rate_of_nothing(schedule, steps):
    last, before = schedule.factor(steps, steps), schedule.factor(steps - 1, steps)
    assert 0 < last < before <= 1


def test_a_schedule_scales_every_rate() -> None:
    _, optimisers, _ = trained(MuonAndAdamW(rate=1e-3, matrix_rate=1e-2), steps=1)
    scale_rates(optimisers, 0.5)
    assert [optimiser.param_groups[0]["lr"] for optimiser in optimisers] == [5e-3, 5e-4]
