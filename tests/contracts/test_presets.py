"""Every preset, made small, trains, runs and is watched; and has the size that its paper states."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import regard
from regard.config import from_json, to_json
from regard.fast.int8 import quantise
from regard.models import ModelConfig
from tests.contracts.promises import gradients_reach
from tests.helpers import ALL_PRESETS, built, feature_inputs, tokens, training_loss

every_preset = pytest.mark.parametrize("config", ALL_PRESETS.values(), ids=ALL_PRESETS)


@every_preset
def test_a_small_variant_comes_back_from_json_and_builds_the_same_model(config: ModelConfig) -> None:
    again = from_json(ModelConfig, to_json(config))
    torch.manual_seed(1)
    one = config.build()
    torch.manual_seed(1)
    other = again.build()
    for (name, left), (_, right) in zip(one.state_dict().items(), other.state_dict().items(), strict=True):
        assert torch.equal(left, right), name


@every_preset
def test_gradients_reach_every_parameter(config: ModelConfig) -> None:
    model = built(config).train()
    training_loss(model, feature_inputs(model)).backward()
    gradients_reach(model)


# The statistics of two pictures turn small errors into large ones.
without_batch_norm = [
    name
    for name, config in ALL_PRESETS.items()
    if not any(isinstance(m, nn.BatchNorm2d) for m in config.build().modules())
]


@pytest.mark.parametrize("config", [ALL_PRESETS[name] for name in without_batch_norm], ids=without_batch_norm)
def test_gradients_with_products_in_bf16_are_nearly_those_without(config: ModelConfig) -> None:
    model = built(config).float().train()
    inputs = feature_inputs(model)
    found = []
    for half in (False, True):
        torch.manual_seed(3)  # what is dropped or drawn
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = training_loss(model, inputs)
        model.zero_grad()
        loss.backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
        assert all(p.grad is None or p.grad.dtype == torch.float32 for p in model.parameters())
    exact, rough = found
    assert (rough - exact).norm() < 0.1 * exact.norm()


@every_preset
def test_it_learns_a_batch_by_heart(config: ModelConfig) -> None:
    model = config.build().train()
    inputs = feature_inputs(model)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = training_loss(model, inputs)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


@every_preset
@torch.no_grad()
def test_its_matrices_may_be_bytes(config: ModelConfig) -> None:
    model = built(config).float().eval()
    inputs = feature_inputs(model)
    exact = model(*inputs)
    found = quantise(model)(*inputs)
    assert (found - exact).norm() < 0.2 * exact.norm()


@every_preset
def test_watching_changes_nothing_bit_for_bit(config: ModelConfig) -> None:
    model = config.build().train()  # with dropout
    inputs = feature_inputs(model)
    torch.manual_seed(5)
    plain = model(*inputs)
    torch.manual_seed(5)
    with regard.watch(model) as seen:
        watched = model(*inputs)
    assert torch.equal(plain, watched)
    assert list(seen) == model.attention_names()


@every_preset
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(config: ModelConfig, dtype: torch.dtype) -> None:
    model = built(config).to(dtype)
    assert model(*feature_inputs(model)).dtype == dtype
    model.train()
    assert model(*feature_inputs(model)).dtype == dtype


@every_preset
def test_batched_rows_equal_single_rows(config: ModelConfig) -> None:
    model = built(config).double()
    inputs = feature_inputs(model, batch=3)
    together = model(*inputs)
    for row in range(3):
        alone = model(*(None if x is None else x[row : row + 1] for x in inputs))
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-4, atol=1e-5)


@every_preset
def test_a_preset_can_be_copied_and_moved(config: ModelConfig) -> None:
    """What layers share without owning it (positions, tied tables) stays shared in a copy."""
    import copy

    model = built(config)
    twin = copy.deepcopy(model)
    inputs = feature_inputs(model)
    assert torch.equal(twin(*inputs), model(*inputs))
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert twin(*inputs).eq(0).all()


def test_tokens_of_a_wrong_shape_are_refused() -> None:
    model = built(ALL_PRESETS["gpt2"])
    with pytest.raises(ValueError, match=r"tokens have shape \(4,\)"):
        model(torch.randint(0, 9, (4,)))
    with pytest.raises(ValueError, match=r"the mask has shape \(2, 4\), the tokens \(2, 5\)"):
        model(tokens(2, 5), torch.ones(2, 4, dtype=torch.bool))


def test_segments_are_refused_where_there_are_none() -> None:
    model = built(ALL_PRESETS["roberta-large"])
    with pytest.raises(ValueError, match="segments were given, but this model's embedding has none"):
        model(tokens(2, 5), segments=torch.zeros(2, 5, dtype=torch.long))
