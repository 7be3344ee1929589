"""Every pooling keeps the same promises: one vector for a text, of its real tokens, with a gradient for all of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import regard
from regard.models import Classifier
from regard.nn.call.masks import real_tokens
from regard.nn.pooling import Pool, PoolConfig
from tests.helpers import POOLS, built, encoder, label, randomise, tokens

WIDTH = 8
LENGTHS = torch.tensor([6, 4, 1])
every_pool = pytest.mark.parametrize("config", POOLS, ids=label)


def pool_of(config: PoolConfig) -> Pool:
    pool = config.build(WIDTH)
    randomise(pool)
    return pool


def padding(side: str) -> Tensor:
    return real_tokens(LENGTHS, 6) if side == "right" else real_tokens(LENGTHS, 6).flip(1)


@every_pool
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_never_changes_a_vector(config: PoolConfig, side: str) -> None:
    pool, states, keep = pool_of(config), torch.randn(3, 6, WIDTH), padding(side)
    states[~keep] = 1e4
    together = pool(states, keep)
    assert together.shape == (3, config.after(WIDTH))
    for row in range(3):
        torch.testing.assert_close(together[row : row + 1], pool(states[row : row + 1, keep[row]], None))


@every_pool
def test_gradients_reach_every_parameter_and_no_padding(config: PoolConfig) -> None:
    pool, states, keep = pool_of(config), torch.randn(3, 6, WIDTH, requires_grad=True), padding("right")
    (pool(states, keep) * torch.randn(3, config.after(WIDTH))).sum().backward()
    for name, parameter in pool.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
    assert states.grad is not None
    assert states.grad[~keep].eq(0).all()
    assert states.grad.abs().sum((1, 2)).min() > 0


@every_pool
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(config: PoolConfig, dtype: torch.dtype) -> None:
    assert pool_of(config).to(dtype)(torch.randn(3, 6, WIDTH, dtype=dtype), padding("right")).dtype == dtype


@every_pool
def test_shares_of_states_are_of_a_whole(config: PoolConfig) -> None:
    for count in (1, 2, 7):
        shares = pool_of(config).shares(count)
        if shares is not None:
            assert len(shares) == count
            assert sum(shares) == pytest.approx(1)


@every_pool
def test_watching_changes_nothing_and_shows_the_pool_if_it_attends(config: PoolConfig) -> None:
    model, sentence = built(Classifier(reader=encoder(), pool=config)), tokens(2, 6)
    plain = model(sentence)
    with regard.watch(model) as seen:
        assert torch.equal(model(sentence), plain)
    assert list(seen) == model.attention_names()
    assert ("pool.0.words" in seen) == pool_of(config).attends
