"""Low-rank adapters."""

from __future__ import annotations

from typing import Any

import torch

from regard.checkpoint import weights_of
from regard.nn.linear import Linear
from regard.nn.lowrank import AdaptedLinear, adapt, adapted, merge, merged
from tests.helpers import built, encoder

ROWS = torch.tensor([[3, 7, 1, 9, 4], [8, 2, 5, 5, 6]])


def with_adapters(rank: int = 2) -> Any:
    model = built(encoder()).double()
    adapt(model, rank, scale=4.0)
    return model


def learnt(model: Any) -> Any:
    """As if it had been trained."""
    for layer in model.modules():
        if isinstance(layer, AdaptedLinear):
            torch.nn.init.normal_(layer.up)
    return model


def test_an_adapter_that_has_not_learnt_changes_nothing() -> None:
    plain: Any = built(encoder()).double()
    expected = plain.encode(ROWS).states
    adapt(plain, rank=2, scale=4.0)
    torch.testing.assert_close(plain.encode(ROWS).states, expected)


def test_only_the_adapters_learn() -> None:
    model = with_adapters()
    model.encode(ROWS).states.sum().backward()
    learning = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert learning == {name for name, _ in model.named_parameters() if name.endswith((".up", ".down"))}
    assert learning


def test_it_adds_a_product_of_the_rank() -> None:
    layer = Linear(6, 5)
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)
    one, x = adapted(layer, rank=3, scale=6.0), torch.randn(4, 6)
    torch.nn.init.normal_(one.up)
    expected = torch.nn.functional.linear(x, layer.weight + 2.0 * one.up @ one.down, layer.bias)
    torch.testing.assert_close(one(x), expected)
    assert torch.linalg.matrix_rank(one.up @ one.down) == 3


def test_merged_weights_are_those_of_the_plain_model() -> None:
    model, plain = learnt(with_adapters()), built(encoder()).double()
    weights = merged(model, weights_of(model))
    assert weights.keys() == dict(plain.named_parameters()).keys()
    plain.load_state_dict(weights, strict=False)
    torch.testing.assert_close(plain.encode(ROWS).states, model.encode(ROWS).states)


def test_merging_gives_the_plain_model() -> None:
    model = learnt(with_adapters())
    expected = model.encode(ROWS).states
    merge(model)
    torch.testing.assert_close(model.encode(ROWS).states, expected)
    assert not any(isinstance(layer, AdaptedLinear) for layer in model.modules())


def test_adapting_and_merging_draw_nothing_but_the_adapters() -> None:
    model = built(encoder())
    inputs = [layer.in_features for layer in model.modules() if isinstance(layer, Linear)]
    torch.manual_seed(1)
    adapt(model, rank=2, scale=4.0)
    merge(model)
    after = torch.get_rng_state()
    torch.manual_seed(1)
    for width in inputs:
        torch.empty(2, width).normal_()
    assert torch.equal(torch.get_rng_state(), after)


def test_an_adapter_without_storage_is_initialised_later() -> None:
    with torch.device("meta"):
        layer = adapted(Linear(64, 64), rank=8, scale=4.0)
    layer.to_empty(device="cpu").reset_parameters()
    assert layer.up.eq(0).all()
    assert 0.5 / 8 < layer.down.std() < 2 / 8
    assert layer.weight.abs().max() <= (6 / 128) ** 0.5
