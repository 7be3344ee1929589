"""The key-value cache: room by doubling, rows by index, and nothing of another batch."""

from __future__ import annotations

import pytest
import torch

import regard
from regard.models import Recurrent, RecurrentDecoder
from regard.models.recurrent import Bahdanau
from regard.nn.attention import Additive, Content, Kernel, KernelConfig
from regard.nn.call.cache import KeyValueCache
from regard.nn.call.context import Context
from tests.helpers import built, decoder, encoder_decoder, label, tokens


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


def test_a_search_makes_all_its_room_at_once() -> None:
    model = built(encoder_decoder())
    state = model.begin(model.encode(tokens(2, 7)))
    state.reserve(40)
    model.step(tokens(2, 1), state)
    own = [cache for cache in state.cache.values() if not cache.fixed]
    assert [cache.keys.shape[2] for cache in own] == [40] * len(own)
    assert {cache.keys.shape[2] for cache in state.cache.values() if cache.fixed} == {7}
    assert own


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
    state = model.begin()
    model.step(tokens(2, 3), state)
    with pytest.raises(ValueError, match="the state holds a batch of 2, the new tokens are a batch of 3"):
        model.step(tokens(3, 1), state)
    translator = built(encoder_decoder())
    with pytest.raises(ValueError, match="the memory holds a batch of 2, the tokens are a batch of 3"):
        translator.step(tokens(3, 1), translator.begin(translator.encode(tokens(2, 4))))


def test_selected_rows_go_on_as_if_they_had_been_alone() -> None:
    model, prompt, rows = built(encoder_decoder()), tokens(3, 4), torch.tensor([2, 2, 0])
    source = tokens(3, 6)
    state = model.begin(model.encode(source))
    model.step(prompt, state)
    more = tokens(3, 1)
    state.select(rows)
    logits = model.step(more, state)
    expected = model(source[rows], torch.cat([prompt[rows], more], dim=1))[:, -1]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def test_the_memory_is_projected_once() -> None:
    model = built(encoder_decoder())
    calls = []
    model.decoder.blocks[0].cross.kv.register_forward_hook(lambda *_: calls.append(1))
    state = model.begin(model.encode(tokens(2, 5)))
    for _ in range(3):
        model.step(tokens(2, 1), state)
    assert calls == [1]


@pytest.mark.parametrize("reading", ["transformer", "recurrent"])
@pytest.mark.parametrize("kernel", [Additive(), Content()], ids=label)
def test_keys_of_a_source_are_made_ready_once_not_once_a_step(
    reading: str, kernel: KernelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reading == "transformer":
        model = built(encoder_decoder(kernel=kernel))
    else:
        model = built(Recurrent(vocabulary=40, width=32, hidden=16, reader=Bahdanau(kernel=kernel)))
    kind = type(next(module for module in model.modules() if isinstance(module, Kernel)))
    calls: list[int] = []
    ready = kind.ready

    def counted(module: Kernel, k: torch.Tensor, v: torch.Tensor, context: Context) -> tuple[torch.Tensor, ...]:
        calls.append(k.shape[2])
        return ready(module, k, v, context)

    monkeypatch.setattr(kind, "ready", counted)
    source, target = tokens(2, 9), tokens(2, 4)
    expected = model(source, target)
    state = model.begin(model.encode(source))
    calls.clear()
    for place in range(4):
        logits = model.step(target[:, place : place + 1], state)
        torch.testing.assert_close(logits, expected[:, place], rtol=1e-4, atol=1e-5)
    layers = sum(name.endswith("cross") for name in model.attention_names())
    assert calls.count(9) == layers  # the source has nine tokens, what was written has fewer


def test_only_the_filled_part_is_copied_and_nothing_where_the_rows_stay() -> None:
    cache = KeyValueCache(capacity=8)
    k = torch.randn(3, 1, 4, 5)
    cache.extend(k, k)
    before = cache.keys
    cache.select(torch.arange(3))
    assert cache.keys is before
    cache.select(torch.tensor([2, 0]))
    assert cache.keys.shape == (2, 1, 8, 5)
    assert torch.equal(cache.extend(k[:2], k[:2])[0], torch.cat([k[[2, 0]], k[:2]], dim=2))


@pytest.mark.parametrize("length", [1, 3])
def test_rows_that_share_a_memory_get_what_a_memory_each_gives(length: int) -> None:
    model, source, target = built(encoder_decoder()), tokens(2, 6), tokens(6, length)
    keep = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    own = torch.arange(2).repeat_interleave(3)
    with regard.watch(model, "decoder.1.cross") as shared:
        state = model.begin(model.encode(source, keep))
        logits = model.step(target, state)
    with regard.watch(model, "decoder.1.cross") as apart:
        expected = model.step(target, model.begin(model.encode(source[own], keep[own])))
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(shared.last("decoder.1.cross"), apart.last("decoder.1.cross"))
    assert shared.last("decoder.1.cross").shape == (6, 4, length, 6)
    assert len(state.cache["decoder.0.cross"].keys) == 2


def test_rows_and_memories_are_selected_apart() -> None:
    model, source, target = built(encoder_decoder()), tokens(3, 6), tokens(6, 4)
    state = model.begin(model.encode(source))
    model.step(target, state)
    memory = state.memory.states
    state.select(torch.tensor([1, 1, 2, 3, 5, 4]))
    assert state.memory.states is memory  # shared by two rows each, so it stays
    state.select(torch.tensor([4, 5, 0, 1]), sources=torch.tensor([2, 0]))
    more = tokens(4, 1)
    logits = model.step(more, state)
    rows = [5, 4, 1, 1]
    expected = model(source[[2, 2, 0, 0]], torch.cat([target[rows], more], dim=1))[:, -1]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def test_a_memory_that_does_not_divide_the_batch_is_refused() -> None:
    model = built(encoder_decoder())
    memory = model.encode(tokens(2, 4))
    with pytest.raises(ValueError, match="the memory holds a batch of 2, the tokens are a batch of 3"):
        model.decode(memory, tokens(3, 2))


@pytest.mark.parametrize("padded", [False, True])
def test_a_state_that_is_cut_back_goes_on_as_if_the_rest_had_never_been(padded: bool) -> None:
    model, text, more = built(decoder()).double(), tokens(2, 9), tokens(2, 3)
    keep = torch.ones(2, 5, dtype=torch.bool)
    keep[1, 3:] = not padded
    state = model.begin()
    model.step(text[:, :5], state, keep if padded else None)
    whole = state.copy()
    model.step(text[:, 5:], state)
    assert state.length == 9
    state.cut(5)
    cut = model.step(more, state)
    plain = model.step(more, whole)
    torch.testing.assert_close(cut, plain)
    assert state.length == whole.length == 8


def test_a_copy_of_a_state_goes_its_own_way() -> None:
    for config in (decoder(), RecurrentDecoder(vocabulary=40, width=16, hidden=12)):
        model, text = built(config).double(), tokens(2, 6)
        state = model.begin()
        model.step(text[:, :4], state)
        other = state.copy()
        model.step(tokens(2, 3), other)
        found = model.step(text[:, 4:], state)
        torch.testing.assert_close(found, model(text)[:, -1])


def test_a_recurrent_state_cannot_be_cut_and_none_can_be_stretched() -> None:
    model = built(RecurrentDecoder(vocabulary=40, width=16, hidden=12))
    state = model.begin()
    model.step(tokens(1, 4), state)
    with pytest.raises(ValueError, match="a recurrent state holds all tokens in one"):
        state.cut(2)
    assert not model.rewinds
    attentive = built(decoder())
    state = attentive.begin()
    attentive.step(tokens(1, 4), state)
    assert attentive.rewinds
    with pytest.raises(ValueError, match="a state of 4 tokens cannot be cut to 5"):
        state.cut(5)


def test_what_was_made_of_a_memory_is_not_cut() -> None:
    model, source, text = built(encoder_decoder()), tokens(2, 6), tokens(2, 5)
    state = model.begin(model.encode(source))
    model.step(text, state)
    state.cut(2)
    found = model.step(text[:, 2:], state)
    torch.testing.assert_close(found, model(source, text)[:, -1], rtol=1e-4, atol=1e-5)


def test_a_state_changes_in_place_and_a_copy_is_another() -> None:
    model = built(decoder())
    state = model.begin()
    changes = [
        lambda: state.reserve(20),
        lambda: state.select(torch.tensor([1, 0])),
        lambda: state.cut(3),
        lambda: state.branch(2),
    ]
    logits = model.step(tokens(2, 4), state)
    assert isinstance(logits, torch.Tensor)
    other = state.copy()
    assert [change() for change in changes] == [None] * len(changes)  # type: ignore[no-untyped-call]
    assert (state.length, state.batch) == (3, 4)
    assert (other.length, other.batch, other.branches) == (4, 2, None)
