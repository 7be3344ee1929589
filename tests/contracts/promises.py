"""Promises that parts and models of many kinds keep, for the tests that hold them to it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def gradients_reach(module: nn.Module) -> None:
    """A backward pass gave every parameter a gradient, and not all zeros."""
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def future_cannot_leak(model: Any, *inputs: Tensor) -> None:
    """Another token changes what follows from it on, and nothing before it; the last of the inputs is what is read."""
    *source, tokens = inputs
    before = model(*inputs)
    for place in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, place] = (changed[:, place] + 1) % model.config.vocabulary
        after = model(*source, changed)
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.equal(after[:, place:], before[:, place:])


def steps_equal_the_pass(model: Any, state: Any, tokens: Tensor, expected: Tensor, *prompts: int) -> None:
    """From a state, by prompts of these lengths and then token by token, a model gives what a whole pass gave."""
    place = 0
    for count in (*prompts, *[1] * (tokens.shape[1] - sum(prompts))):
        logits = model.step(tokens[:, place : place + count], state)
        place += count
        close(logits, expected[:, place - 1])


def rows_stand_alone(model: Any, tokens: Tensor, keep: Tensor) -> None:
    """What a padded batch gives of the real tokens of a row is what the row alone gives."""
    together = model(tokens, keep)
    for row in range(len(tokens)):
        close(together[row, keep[row]], model(tokens[row : row + 1, keep[row]])[0])


def prompts_go_on_alone(model: Any, prompt: Tensor, keep: Tensor, more: Tensor) -> None:
    """Padded prompts of several lengths go on, token by token, as each of them would alone."""
    state, alone = model.begin(), [prompt[row : row + 1, keep[row]] for row in range(len(prompt))]
    close(model.step(prompt, state, keep), torch.cat([model(row)[:, -1] for row in alone]))
    for new in more.split(1, 1):
        logits = model.step(new, state)
        alone = [torch.cat([row, new[i : i + 1]], 1) for i, row in enumerate(alone)]
        close(logits, torch.cat([model(row)[:, -1] for row in alone]))
