"""The key-value cache: room by doubling, rows by index, and nothing of another batch."""

from __future__ import annotations

import pytest
import torch

from regard.nn.cache import KeyValueCache
from tests.helpers import built, decoder, encoder_decoder, tokens


def test_room_is_made_ahead_and_grows_by_doubling() -> None:
    cache = KeyValueCache(capacity=4)
    written, room = [], []
    for _ in range(11):
        k = torch.randn(2, 3, 1, 5)
        written.append(k)
        keys, values = cache.extend(k, k + 1)
        room.append(cache.keys.shape[2])
        assert torch.equal(keys, torch.cat(written, dim=2))
        assert torch.equal(values, torch.cat(written, dim=2) + 1)
    assert room == [4] * 4 + [8] * 4 + [16] * 3


def test_a_step_within_the_room_copies_nothing() -> None:
    cache = KeyValueCache(capacity=8)
    cache.extend(*torch.randn(2, 2, 3, 1, 5))
    before = cache.keys.data_ptr()
    cache.extend(*torch.randn(2, 2, 3, 1, 5))
    assert cache.keys.data_ptr() == before


def test_rows_are_selected_by_index() -> None:
    cache = KeyValueCache()
    k, v = torch.randn(2, 3, 1, 4, 5)
    cache.extend(k, v)
    rows = torch.tensor([2, 0, 0, 1])
    cache.select(rows)
    keys, values = cache.whole()
    assert torch.equal(keys, k[rows])
    assert torch.equal(values, v[rows])


def test_another_batch_size_is_refused() -> None:
    cache = KeyValueCache()
    cache.extend(*torch.randn(2, 2, 1, 4, 5))
    with pytest.raises(ValueError, match="the cache holds a batch of 2, the new tokens are a batch of 3"):
        cache.extend(*torch.randn(2, 3, 1, 1, 5))
    model = built(decoder())
    _, state = model.step(tokens(2, 3), model.begin())
    with pytest.raises(ValueError, match="the state holds a batch of 2, the new tokens are a batch of 3"):
        model.step(tokens(3, 1), state)
    translator = built(encoder_decoder())
    with pytest.raises(ValueError, match="the memory holds a batch of 2, the tokens are a batch of 3"):
        translator.step(tokens(3, 1), translator.begin(translator.encode(tokens(2, 4))))


def test_selected_rows_go_on_as_if_they_had_been_alone() -> None:
    model, prompt, rows = built(encoder_decoder()), tokens(3, 4), torch.tensor([2, 2, 0])
    source = tokens(3, 6)
    _, state = model.step(prompt, model.begin(model.encode(source)))
    more = tokens(3, 1)
    logits, _ = model.step(more, state.select(rows))
    expected = model(source[rows], torch.cat([prompt[rows], more], dim=1))[:, -1]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def test_the_memory_is_projected_once() -> None:
    model = built(encoder_decoder())
    calls = []
    model.decoder.blocks[0].cross.kv.register_forward_hook(lambda *_: calls.append(1))
    state = model.begin(model.encode(tokens(2, 5)))
    for _ in range(3):
        _, state = model.step(tokens(2, 1), state)
    assert calls == [1]
