"""Transformer-XL's positions: the formula, two ways to find it, and memory from segment to segment."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.call.past import Past
from regard.nn.positions import HeadDims, PositionConfig, TransformerXL, sinusoids
from regard.nn.positions.transformer_xl import TransformerXLPosition, side_by_side
from tests.helpers import POSITIONS, built, encoder, label, tokens

H, T, K = 2, 5, 4
DIMS = HeadDims(H * K, H, H, K, K)


def position(**fields: object) -> TransformerXLPosition:
    found = TransformerXL(**fields).build(DIMS)  # type: ignore[arg-type]
    assert isinstance(found, TransformerXLPosition)
    for parameter in found.parameters():
        torch.nn.init.normal_(parameter)
    return found


def context(keep: torch.Tensor | None = None, batch: int = 1) -> Context:
    return Context.whole(torch.empty(batch, T), Mask(keys=keep))


@pytest.mark.parametrize("distance", [None, 2])
def test_the_score_equals_its_formula(distance: int | None) -> None:
    module, call = position(distance=distance), context()
    q, k = torch.randn(1, H, T, K), torch.randn(1, H, T, K)
    placed, _, _ = module.place(q, k, k, call)
    found = placed @ k.transpose(-1, -2) + module.bias(placed, 1.0, call)
    for head in range(H):
        for i in range(T):
            for j in range(T):
                back = max(min(i - j, distance or T), -(distance or T))
                turned = module.turn(sinusoids(torch.tensor([back]), H * K, "halves").float())[0].view(H, K)[head]
                content = (q[0, head, i] + module.u[head, 0]) @ k[0, head, j]
                expected = content + (q[0, head, i] + module.v[head, 0]) @ turned
                torch.testing.assert_close(found[0, head, i, j], expected, rtol=1e-4, atol=1e-5)


def test_segments_add_one_vector_for_the_same_and_one_for_others() -> None:
    module, call = position(segments=True), context()
    q = torch.randn(1, H, T, K)
    plain = module.bias(q, 0.5, call)
    marks = torch.tensor([[0, 0, 1, 1, 2]])
    call = call.at(replace(call.geometry, facts={"segments": (marks, marks)}))
    added = module.bias(q, 0.5, call) - plain
    assert module.b is not None
    assert module.s is not None
    parts = 0.5 * (q - module.u + module.b) @ module.s.transpose(-1, -2)
    for i in range(T):
        for j in range(T):
            expected = parts[0, :, i, int(marks[0, i] != marks[0, j])]
            torch.testing.assert_close(added[0, :, i, j], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("holes", [False, True])
def test_columns_and_places_agree_and_holes_are_noticed(holes: bool) -> None:
    keep = real_tokens(torch.tensor([5, 3, 4]), T).flip(1)
    if holes:
        keep[0, 1:3] = False
    module, call = position(), context(keep, 3)
    assert side_by_side(call.geometry) is not holes
    q = torch.randn(3, H, T, K)
    found = module.bias(q, 1.0, call)
    for row in range(3):
        alone = module.bias(
            q[row : row + 1, :, keep[row]], 1.0, Context.whole(torch.empty(1, int(keep[row].sum())), Mask())
        )
        torch.testing.assert_close(found[row][:, keep[row]][:, :, keep[row]], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scheme", POSITIONS, ids=label)
@torch.no_grad()
def test_a_first_layer_that_remembers_all_reads_as_if_the_text_were_whole(scheme: PositionConfig) -> None:
    """Of one layer the last segment is the same, for it sees the very inputs; whatever the positions."""
    model, text = built(encoder(position=scheme)), tokens(2, 9)
    del model.encoder.blocks[1:]
    past = Past(6)
    model.encode(text[:, :2], past=past)
    model.encode(text[:, 2:6], past=past)
    assert past.size == 6
    states = model.encode(text[:, 6:], past=past).states
    plain = torch.zeros(1, 9, 32 - model.encoder.position.taken)
    if not torch.equal(model.encoder.position.embed(plain, Context.whole(plain, Mask())), plain):
        return  # what was added to the input when a token was read stays there, and places were counted anew since
    torch.testing.assert_close(states, model.encode(text).states[:, 6:], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_padding_in_the_memory_is_seen_by_nobody() -> None:
    model = built(encoder(position=TransformerXL()))
    first, second = tokens(2, 5), tokens(2, 4)
    keep = real_tokens(torch.tensor([5, 2]), 5)
    past = Past(8)
    model.encode(first, keep, past=past)
    together = model.encode(second, past=past).states
    alone = Past(8)
    model.encode(first[1:, :2], past=alone)
    torch.testing.assert_close(together[1:], model.encode(second[1:], past=alone).states, rtol=1e-4, atol=1e-5)
    chosen = Past(8)
    model.encode(first, keep, past=chosen)
    chosen.select(torch.tensor([1]))
    other = model.encode(second[1:], past=chosen).states
    torch.testing.assert_close(together[1:], other, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_of_a_padded_segment_only_what_is_left_of_it_is_remembered() -> None:
    """Of the last three columns: all of the first row's, one of the second's, nothing of the third's but padding."""
    model = built(encoder(position=TransformerXL()))
    first, second, lengths = tokens(3, 5), tokens(3, 4), [5, 3, 2]
    past = Past(3)
    model.encode(first, real_tokens(torch.tensor(lengths), 5), past=past)
    together = model.encode(second, past=past).states
    for row, length in enumerate(lengths):
        alone = Past(max(length - 2, 1))
        if length > 2:
            model.encode(first[row : row + 1, :length], past=alone)
        expected = model.encode(second[row : row + 1], past=alone).states
        torch.testing.assert_close(together[row : row + 1], expected, rtol=1e-4, atol=1e-5)


def test_no_gradient_goes_back_into_the_memory_but_weights_learn_from_it() -> None:
    model = built(encoder(position=TransformerXL()))
    past = Past(4)
    model.encode(tokens(1, 4), past=past)
    assert not any(states.requires_grad for states in past.states.values())
    del model.encoder.blocks[1:]
    model.encode(tokens(1, 1), past=past).states.square().sum().backward()
    grad = model.encoder.blocks[0].attention.qkv.weight.grad
    assert grad is not None
    assert grad.abs().sum() > 0


def test_a_memory_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="a memory of 0 tokens"):
        Past(0)
