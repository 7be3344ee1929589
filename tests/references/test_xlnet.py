"""Equality with the XLNet of `transformers`: both streams, memory, padding and segments; outputs and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

transformers = pytest.importorskip("transformers")

from regard.models import TwoStreamModel  # noqa: E402
from regard.nn.call.masks import real_tokens  # noqa: E402
from regard.nn.call.past import Past  # noqa: E402
from regard.zoo import get  # noqa: E402
from tests.helpers import SMALL, VOCABULARY, randomise  # noqa: E402
from tests.references import links as link  # noqa: E402
from tests.references.links import Link, assert_alike, assert_equal, by_head  # noqa: E402

HEADS, LAYERS = 4, 2
TINY = {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": LAYERS, "n_head": HEADS, "d_inner": 48, "dropout": 0}


def rows(weight: Tensor) -> Tensor:
    """(D, H, K) → (H·K, D)."""
    return weight.permute(1, 2, 0).flatten(0, 1)


def links(ours: TwoStreamModel, theirs: Any) -> list[Link]:
    body = theirs.transformer
    found = [
        link.same(ours.embedding.tokens.weight, body.word_embedding.weight),
        Link(ours.query, lambda get: get(body.mask_emb).flatten()),
        link.same(ours.head.bias, theirs.lm_loss.bias),
    ]
    for block, position, layer in zip(ours.encoder.blocks, ours.encoder.positions, body.layer, strict=True):
        found += layer_links(block, position, layer.rel_attn)
        found += [
            *link.modules(block.attention_join.norm, layer.rel_attn.layer_norm),
            *link.modules(block.feedforward.up, layer.ff.layer_1),
            *link.modules(block.feedforward.down, layer.ff.layer_2),
            *link.modules(block.feedforward_join.norm, layer.ff.layer_norm),
        ]
    return found


def layer_links(block: Any, position: Any, attention: Any) -> list[Link]:
    three = (attention.q, attention.k, attention.v)
    return [
        Link(block.attention.qkv.weight, lambda get: by_head(HEADS, *(rows(get(weight)) for weight in three))),
        Link(block.attention.out.weight, lambda get: get(attention.o).flatten(1)),
        Link(position.turn.weight, lambda get: rows(get(attention.r))),
        Link(position.u, lambda get: get(attention.r_w_bias).unsqueeze(1)),
        Link(position.v, lambda get: get(attention.r_r_bias).unsqueeze(1)),
        Link(position.b, lambda get: get(attention.r_s_bias).unsqueeze(1)),
        Link(position.s, lambda get: get(attention.seg_embed).transpose(0, 1)),
    ]


def pair(**fields: Any) -> tuple[TwoStreamModel, Any, list[Link]]:
    theirs = transformers.XLNetLMHeadModel(transformers.XLNetConfig(**TINY, **fields))
    randomise(theirs)
    distance = fields.get("clamp_len")
    ours = get("xlnet-base", **SMALL, dropout=0, weight_dropout=0, hidden_dropout=0, distance=distance).build()
    assert isinstance(ours, TwoStreamModel)
    found = links(ours, theirs)
    link.copy(found, ours)
    return ours, theirs, found


def batch_of(lengths: list[int], left: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, which are real, and three segments in each row."""
    keep = real_tokens(torch.tensor(lengths), max(lengths))
    keep = keep.flip(1) if left else keep
    segments = torch.randint(0, 3, keep.shape).sort(1).values
    return torch.randint(2, VOCABULARY, keep.shape), keep, segments


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("lengths", [[9, 4, 7], [6, 6], [1], [150, 3, 64]], ids=str)
def test_xlnet_equals_transformers_in_outputs_and_gradients(lengths: list[int], left: bool) -> None:
    ours, theirs, found = pair()
    tokens, keep, segments = batch_of(lengths, left)
    expected = theirs(tokens, attention_mask=keep.float(), token_type_ids=segments).logits[keep]
    logits = ours(tokens, keep, segments)[keep]
    links = [one for one in found if one.ours is not ours.query]
    assert_alike(logits, expected, links, scale=1 / logits.numel())


def test_without_segments_all_tokens_are_of_one() -> None:
    ours, theirs, _ = pair(clamp_len=3)
    tokens, keep, _ = batch_of([9, 4, 7])
    expected = theirs(tokens, attention_mask=keep.float()).logits[keep]
    assert_equal(ours(tokens, keep)[keep], expected)
    assert_equal(ours(tokens, keep, torch.zeros_like(tokens))[keep], expected)


def permuted(batch: int, length: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """What each place sees in an order drawn for each row; the last `count` places of the order, as places and as
    their mapping (B, N, T)."""
    order = torch.rand(batch, length).argsort(1)
    rank = order.argsort(1)
    places = order[:, -count:]
    mapping = torch.nn.functional.one_hot(places, length).float()
    return rank.unsqueeze(1) < rank.unsqueeze(2), places, mapping


@pytest.mark.parametrize(("lengths", "count"), [([9, 4, 7], 2), ([6, 6], 5), ([40, 33], 7)])
def test_both_streams_equal_those_of_transformers(lengths: list[int], count: int) -> None:
    ours, theirs, found = pair()
    tokens, keep, segments = batch_of(lengths)
    visible, places, mapping = permuted(*tokens.shape, count)
    inputs = {"attention_mask": keep.float(), "token_type_ids": segments}
    expected = theirs(tokens, perm_mask=(~visible).float(), target_mapping=mapping, **inputs).logits
    logits = ours.head.logits(ours.predict(tokens, visible, places, keep, segments))
    sees = (visible & keep.unsqueeze(1)).take_along_dim(places.unsqueeze(-1), 1).any(-1)  # else theirs sees everything
    sees &= keep.gather(1, places)
    assert_alike(logits[sees], expected[sees], found, scale=1 / logits[sees].numel())


@pytest.mark.parametrize("length", [3, 5, 100])
def test_what_is_remembered_equals_that_of_transformers(length: int) -> None:
    """Three segments one after the other, the last with both streams."""
    ours, theirs, found = pair(mem_len=length)
    past, memory = Past(length), None
    for size in (6, 4):
        tokens, _, segments = batch_of([size, size])
        out = theirs(tokens, mems=memory, token_type_ids=segments, use_mems=True)
        assert_equal(ours.head.logits(ours.encode(tokens, None, segments, past=past).states), out.logits)
        memory = out.mems
    for name, states in past.states.items():
        assert_equal(states, memory[int(name.split(".")[1])].transpose(0, 1))
        assert not states.requires_grad
    tokens, _, segments = batch_of([7, 7])
    visible, places, mapping = permuted(2, 7, 3)
    inputs = {"perm_mask": (~visible).float(), "target_mapping": mapping, "token_type_ids": segments}
    expected = theirs(tokens, mems=memory, use_mems=True, **inputs).logits
    logits = ours.head.logits(ours.predict(tokens, visible, places, None, segments, past))
    assert_alike(logits, expected, found, scale=1 / logits.numel())
