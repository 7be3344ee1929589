"""What the poolings of our own compute."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.config import kinds
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.pooling import (
    AttentionPool,
    AttentionPooling,
    FirstToken,
    Largest,
    LastToken,
    Mean,
    Pool,
    PoolConfig,
    SideBySide,
)

KEEP = real_tokens(torch.tensor([6, 4, 1]), 6)


def built(config: PoolConfig) -> Pool:
    pool = config.build(8)
    for parameter in pool.parameters():
        torch.nn.init.normal_(parameter)
    return pool


@pytest.mark.parametrize(
    "config",
    [FirstToken(dense=False), LastToken(), Mean(), Largest(), AttentionPooling()],
    ids=lambda config: config.kind,
)
def test_the_vector_of_one_state_is_that_state(config: PoolConfig) -> None:
    pool, state = built(config), torch.randn(2, 1, 8)
    torch.testing.assert_close(pool(state, None), state[:, 0])


def test_mean_max_and_last_are_what_they_say() -> None:
    states = torch.tensor([[[1.0, 8.0], [3.0, 2.0], [100.0, 100.0]]])
    keep = torch.tensor([[True, True, False]])
    pools = {kind: config().build(2) for kind, config in kinds(PoolConfig).items()}  # type: ignore[attr-defined]
    assert pools["mean"](states, keep).tolist() == [[2.0, 5.0]]
    assert pools["max"](states, keep).tolist() == [[3.0, 8.0]]
    assert pools["last"](states, keep).tolist() == [[3.0, 2.0]]


def test_first_states_and_the_mean_of_the_others_stand_side_by_side() -> None:
    states = torch.tensor([[[9.0, 9.0], [1.0, 2.0], [3.0, 4.0], [5.0, 8.0]]])
    keep = torch.tensor([[False, True, True, True]])
    assert FirstToken(dense=False).build(2)(states, keep).tolist() == [[1.0, 2.0]]
    assert SideBySide().build(2)(states, keep).tolist() == [[1.0, 2.0, 4.0, 6.0]]
    assert SideBySide(count=2, mean=False).build(2)(states, None).tolist() == [[9.0, 9.0, 1.0, 2.0]]


def test_attention_equals_the_formula_of_its_paper() -> None:
    pool = built(AttentionPooling(context=5))
    assert isinstance(pool, AttentionPool)
    states = torch.randn(2, 4, 8)
    hidden = (states @ pool.hidden.weight.T + pool.hidden.bias).tanh()  # u = tanh(W h + b)
    scores = (hidden * pool.score.weight[0]).sum(-1).exp()  # exp(u · v)
    weights = scores / scores.sum(-1, keepdim=True)
    torch.testing.assert_close(pool.weights(states, None), weights)
    torch.testing.assert_close(pool(states, None), (weights[..., None] * states).sum(1))


class Notes:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.model, self.seen = torch.nn.Identity(), dict[str, Tensor]()

    def see(self, name: str, weights) -> None:  # type: ignore[no-untyped-def]
        self.seen[name] = weights()

    def note(self, name: str, value) -> None:  # type: ignore[no-untyped-def]
        raise AssertionError(name)


def test_the_weights_that_are_seen_give_the_vector() -> None:
    pool, states = built(AttentionPooling()), torch.randn(3, 6, 8)
    context = Context.whole(states, Mask(keys=KEEP)).enter("pool.0.words")
    context.watcher = notes = Notes()
    pooled = pool(states, KEEP, context)
    weights = notes.seen["pool.0.words"]  # (B, 1, 1, T)
    assert weights.shape == (3, 1, 1, 6)
    assert not weights[~KEEP[:, None, None]].any()
    torch.testing.assert_close((weights[:, 0] @ states)[:, 0], pooled)
