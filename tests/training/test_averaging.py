"""Averages of weights are what they say, leave the model alone, and go on after a stop."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.checkpoint import weights_of
from regard.training.averaging import Average, AverageConfig, Exponential, Last, NoAverage

AVERAGES: list[AverageConfig] = [NoAverage(), Exponential(decay=0.9), Last(count=3, every=2)]


def follow(average: Average, steps: range) -> list[dict[str, torch.Tensor]]:
    """Move the weights as training would; gives what they were after each step."""
    history = []
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        with torch.no_grad():
            for parameter in average.model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator))
        average.update(step)
        history.append({name: weight.clone() for name, weight in weights_of(average.model).items()})
    return history


def assert_close(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name])


def mean(snapshots: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: sum(one[name] for one in snapshots) / len(snapshots) for name in snapshots[0]}  # type: ignore[misc]


@pytest.mark.parametrize(("steps", "counted"), [(2, [2]), (5, [2, 4]), (6, [2, 4, 6]), (11, [6, 8, 10])])
def test_the_last_snapshots_are_averaged_and_no_others(steps: int, counted: list[int]) -> None:
    average = Last(count=3, every=2).build(nn.Linear(3, 2))
    history = follow(average, range(1, steps + 1))
    assert_close(average.weights(), mean([history[step - 1] for step in counted]))


def test_before_the_first_snapshot_the_weights_are_the_models_own() -> None:
    average = Last(count=3, every=5).build(nn.Linear(3, 2))
    history = follow(average, range(1, 5))
    assert_close(average.weights(), history[-1])


@pytest.mark.parametrize("decay", [0.3, 0.9])
def test_a_moving_mean_forgets_fast_at_first_and_then_at_its_rate(decay: float) -> None:
    """Step t keeps t / (t + 10) of the mean, and no more than `decay`."""
    average = Exponential(decay=decay).build(nn.Linear(3, 2))
    expected = {name: weight.clone() for name, weight in weights_of(average.model).items()}
    for step in range(1, 101):
        keeps = min(decay, step / (step + 10))
        (weights,) = follow(average, range(step, step + 1))
        expected = {name: keeps * before + (1 - keeps) * weights[name] for name, before in expected.items()}
        assert_close(average.weights(), expected)


@pytest.mark.parametrize("config", AVERAGES, ids=lambda config: config.kind)
def test_an_average_put_back_goes_on_as_if_it_had_never_stopped(config: AverageConfig) -> None:
    whole, cut = (config.build(nn.Linear(3, 2)) for _ in range(2))
    cut.model.load_state_dict(whole.model.state_dict())
    whole, cut = config.build(whole.model), config.build(cut.model)
    follow(whole, range(1, 12))
    follow(cut, range(1, 8))
    resumed = config.build(nn.Linear(3, 2))
    resumed.model.load_state_dict(cut.model.state_dict())
    resumed.put_state({name: tensor.clone() for name, tensor in cut.state().items()})
    follow(resumed, range(8, 12))
    for name, tensor in whole.weights().items():
        assert torch.equal(tensor, resumed.weights()[name])


@pytest.mark.parametrize("config", AVERAGES, ids=lambda config: config.kind)
def test_statistics_of_batch_norms_are_averaged_as_weights_are(config: AverageConfig) -> None:
    average = config.build(nn.BatchNorm2d(3))
    seen = []
    for step in range(1, 9):
        average.model(torch.randn(4, 3, 2, 2) + step)
        average.update(step)
        seen.append(average.model.running_mean.clone())
    found = average.weights()["running_mean"]
    if config.kind == "last":
        torch.testing.assert_close(found, torch.stack(seen)[[3, 5, 7]].mean(0))
    assert torch.equal(found, seen[-1]) == (config.kind == "none")
    with average.applied():
        assert torch.equal(average.model.running_mean, found)
    assert torch.equal(average.model.running_mean, seen[-1])


@pytest.mark.parametrize("config", AVERAGES, ids=lambda config: config.kind)
def test_an_applied_average_is_in_the_model_and_then_out_of_it_again(config: AverageConfig) -> None:
    average = config.build(nn.Linear(3, 2))
    own = follow(average, range(1, 10))[-1]
    averaged = {name: tensor.clone() for name, tensor in average.weights().items()}
    with average.applied():
        assert_close(weights_of(average.model), averaged)
    assert_close(weights_of(average.model), own)
