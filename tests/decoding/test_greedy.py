"""Greedy search against a loop that reads everything again for each token."""

from __future__ import annotations

import pytest
import torch

import regard
from regard.decoding import Decoding, complete, decode, translate
from regard.decoding.beam import beam_search, candidates
from regard.decoding.steps import look
from regard.nn.positions import ALiBi, Learned, PositionConfig, Relative, Rotary
from tests.decoding.reference import END, START, Counting, assert_same, completing, ending, greedy, ragged, translating
from tests.helpers import POSITIONS, built, decoder, encoder_decoder, label, tokens


@pytest.mark.parametrize("kv_heads", [None, 2])
@pytest.mark.parametrize("batch", [1, 5])
def test_translating_is_the_plain_loop(batch: int, kv_heads: int | None) -> None:
    model = ending(encoder_decoder(kv_heads=kv_heads))
    source, keep, rows = ragged(batch)
    found = translate(model, source, keep, Decoding(max_length=12), START, END)
    for (hypothesis,), row in zip(found, rows, strict=True):
        assert_same([hypothesis], [greedy(translating(model, row), 12)])


@pytest.mark.parametrize("position", [Learned(length=64), Rotary(), ALiBi(), Relative(distance=3)])
@pytest.mark.parametrize("left", [False, True])
def test_completing_padded_prompts_is_the_plain_loop(position, left: bool) -> None:  # type: ignore[no-untyped-def]
    model = ending(decoder(position=position))
    prompt, keep, rows = ragged(4, left=left)
    found = complete(model, prompt, keep, Decoding(max_length=10), END)
    for (hypothesis,), row in zip(found, rows, strict=True):
        assert_same([hypothesis], [greedy(completing(model, row), 10)])


def test_some_of_these_models_end_and_some_do_not() -> None:
    """Otherwise the tests beside this one would show little."""
    model = ending(encoder_decoder())
    source, keep, _ = ragged(16)
    ends = [one.finished for (one,) in translate(model, source, keep, Decoding(max_length=12), START, END)]
    assert 0 < sum(ends) < len(ends)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_one_beam_is_greedy_search_in_any_precision(dtype: torch.dtype) -> None:
    model = ending(encoder_decoder(), dtype=dtype)
    source, keep, _ = ragged(6)
    limits = torch.tensor([3, 9, 1, 12, 7, 12])
    plain = decode(model, model.begin(model.encode(source, keep)), START, END, Decoding(), limits)
    with torch.no_grad():
        start, state = torch.full((6, 1), START), model.begin(model.encode(source, keep))
        first = look(model, start, state, start[:, :0], END, Decoding(), candidates(Decoding()))
        beam = beam_search(model, first, state, END, Decoding(), limits)
    for (one,), (other,) in zip(beam, plain, strict=True):
        assert_same([one], [other], tolerance=1e-5)


def test_finished_rows_leave_the_batch() -> None:
    model = ending(encoder_decoder())
    source, keep, _ = ragged(8)
    counting = Counting(model)
    found = decode(counting, model.begin(model.encode(source, keep)), START, END, Decoding(), 12)
    read = [len(one.tokens) + one.finished for (one,) in found]  # steps that a row took part in
    assert len(set(read)) > 1
    assert counting.rows == [sum(length > step for length in read) for step in range(max(read))]


def test_each_row_has_its_own_limit() -> None:
    model = ending(encoder_decoder(), bias=-50.0)
    limits = torch.tensor([4, 1, 7])
    found = decode(model, model.begin(model.encode(tokens(3, 5))), START, END, Decoding(), limits)
    assert [len(one.tokens) for (one,) in found] == [4, 1, 7]
    assert not any(one.finished for (one,) in found)


def test_the_limit_follows_the_length_of_the_source() -> None:
    model = ending(encoder_decoder(), bias=-50.0)
    source, keep, rows = ragged(3)
    found = translate(model, source, keep, Decoding(max_ratio=1.5, max_extra=3), START, END)
    assert [len(one.tokens) for (one,) in found] == [int(1.5 * row.shape[1]) + 3 for row in rows]


def test_the_end_waits_for_the_minimum() -> None:
    model = ending(encoder_decoder(), bias=50.0)
    (early,), (other,) = translate(model, tokens(2, 5), None, Decoding(), START, END)
    assert early.tokens == other.tokens == []
    (late,), _ = translate(model, tokens(2, 5), None, Decoding(min_length=4), START, END)
    assert len(late.tokens) == 4
    assert late.finished
    assert END not in late.tokens


def test_what_is_forbidden_does_not_change_the_probability_of_the_rest() -> None:
    model = ending(encoder_decoder(), bias=3.0)
    source = tokens(1, 5)
    ((found,),) = translate(model, source, None, Decoding(min_length=3, max_length=3), START, END)
    follow = translating(model, source)
    expected = sum(follow(found.tokens[:i])[token].item() for i, token in enumerate(found.tokens))
    assert abs(found.log_prob - expected) < 1e-9


def test_an_empty_batch_gives_nothing() -> None:
    model = built(decoder())
    assert complete(model, tokens(0, 3), None, Decoding(), END) == []


@pytest.mark.parametrize("position", POSITIONS, ids=label)
def test_a_model_can_be_trained_after_it_decoded(position: PositionConfig) -> None:
    model = built(decoder(position=position))
    complete(model, tokens(2, 3), None, Decoding(max_length=20), END)
    model.train()(tokens(2, 20)).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_what_was_seen_of_decoding_is_like_any_other_tensor() -> None:
    model = ending(encoder_decoder())
    with regard.watch(model, "decoder.0.cross") as seen:
        translate(model, tokens(2, 5), None, Decoding(max_length=3), START, END)
    weights = seen.last("decoder.0.cross")
    assert torch.equal(weights.clone().mul_(2), weights.mul_(2))
    scale = torch.ones((), dtype=weights.dtype, requires_grad=True)
    (scale * weights).sum().backward()
    assert scale.grad is not None


def test_watching_changes_nothing() -> None:
    model = ending(encoder_decoder())
    source, keep, _ = ragged(4)
    options = Decoding(max_length=9, beam=3, nbest=3)
    plain = translate(model, source, keep, options, START, END)
    with regard.watch(model):
        assert translate(model, source, keep, options, START, END) == plain
