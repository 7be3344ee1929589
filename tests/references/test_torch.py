"""Equality with PyTorch's own layers, outputs and gradients, with copied weights."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from regard.nn.attention import MultiHead
from regard.nn.attention.layer import CrossAttention, SelfAttention
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.call.memory import Memory
from regard.nn.feedforward import MLP
from regard.nn.positions import Position
from regard.nn.residual import PostNorm, PreNorm, ResidualConfig
from regard.nn.stacks import Block, BlockLayer, Stack
from tests.helpers import randomise
from tests.references import links as link
from tests.references.links import Link, assert_alike, assert_equal

WIDTH, HEADS, HIDDEN = 32, 4, 48
LENGTHS = torch.tensor([7, 4, 6])
WIRINGS = [PostNorm(), PreNorm()]


def batch(length: int = 7) -> Tensor:
    return torch.randn(3, length, WIDTH, requires_grad=True)


def twin(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def real(x: Tensor, keep: Tensor) -> Tensor:
    """The real rows: what a model says of padding is nobody's business."""
    return x[keep]


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_multiheadattention(causal: bool) -> None:
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    randomise(theirs)
    ours = MultiHead(heads=HEADS).build(WIDTH, Position(), causal)
    assert isinstance(ours, SelfAttention)
    links = link.torch_self(ours, theirs)
    link.copy(links, ours)
    x, keep = batch(), real_tokens(LENGTHS, 7)
    y = twin(x)
    future = nn.Transformer.generate_square_subsequent_mask(7).isinf() if causal else None
    expected, _ = theirs(y, y, y, key_padding_mask=~keep, attn_mask=future, need_weights=False)
    result = ours(x, Context.whole(x, Mask(causal=causal, keys=keep)))
    assert_alike(real(result, keep), real(expected, keep), links, (x, y))


def test_watched_weights_equal_those_of_multiheadattention() -> None:
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    ours = MultiHead(heads=HEADS).build(WIDTH, Position(), causal=False)
    assert isinstance(ours, SelfAttention)
    link.copy(link.torch_self(ours, theirs), ours)
    x = batch()
    _, expected = theirs(x, x, x, need_weights=True, average_attn_weights=False)
    seen: list[Tensor] = []

    class Watcher:
        model = ours

        def see(self, name: str, weights) -> None:  # type: ignore[no-untyped-def]
            seen.append(weights())

        def note(self, name: str, value) -> None:  # type: ignore[no-untyped-def]
            pass

    context = Context.whole(x, Mask())
    context.watcher = Watcher()
    ours(x, context)
    assert_equal(seen[0], expected)


def test_cross_attention_equals_multiheadattention() -> None:
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    randomise(theirs)
    ours = MultiHead(heads=HEADS).build_cross(WIDTH, WIDTH)
    assert isinstance(ours, CrossAttention)
    links = link.torch_cross(ours, theirs)
    link.copy(links, ours)
    x, memory, keep = batch(5), batch(7), real_tokens(LENGTHS, 7)
    y, their_memory = twin(x), twin(memory)
    expected, _ = theirs(y, their_memory, their_memory, key_padding_mask=~keep, need_weights=False)
    result = ours(x, Context.whole(x, Mask(causal=True), Memory(memory, keep)))
    assert_alike(result, expected, links, (x, y), (memory, their_memory))


def block(residual: ResidualConfig, cross: bool) -> Block:
    attention = MultiHead(heads=HEADS)
    return Block(attention, attention if cross else None, MLP(hidden=HIDDEN), residual=residual)


def encoder_links(ours: BlockLayer, theirs: nn.TransformerEncoderLayer) -> list[Link]:
    assert isinstance(ours.attention, SelfAttention)
    return [
        *link.torch_self(ours.attention, theirs.self_attn),
        *link.modules(ours.attention_join.norm, theirs.norm1),
        *link.modules(ours.feedforward.up, theirs.linear1),
        *link.modules(ours.feedforward.down, theirs.linear2),
        *link.modules(ours.feedforward_join.norm, theirs.norm2),
    ]


def decoder_links(ours: BlockLayer, theirs: nn.TransformerDecoderLayer) -> list[Link]:
    assert isinstance(ours.attention, SelfAttention)
    assert isinstance(ours.cross, CrossAttention)
    assert ours.cross_join is not None
    return [
        *link.torch_self(ours.attention, theirs.self_attn),
        *link.modules(ours.attention_join.norm, theirs.norm1),
        *link.torch_cross(ours.cross, theirs.multihead_attn),
        *link.modules(ours.cross_join.norm, theirs.norm2),
        *link.modules(ours.feedforward.up, theirs.linear1),
        *link.modules(ours.feedforward.down, theirs.linear2),
        *link.modules(ours.feedforward_join.norm, theirs.norm3),
    ]


@pytest.mark.parametrize("residual", WIRINGS, ids=lambda wiring: wiring.kind)
def test_a_block_equals_transformerencoderlayer(residual: ResidualConfig) -> None:
    first = residual.kind == "pre-norm"
    theirs = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, batch_first=True, norm_first=first)
    randomise(theirs)
    ours = BlockLayer(WIDTH, block(residual, cross=False), Position(), causal=False, memory_width=0)
    links = encoder_links(ours, theirs)
    link.copy(links, ours)
    x, keep = batch(), real_tokens(LENGTHS, 7)
    y = twin(x)
    expected = theirs(y, src_key_padding_mask=~keep)
    result, _ = ours(x, Context.whole(x, Mask(keys=keep)))
    assert_alike(real(result, keep), real(expected, keep), links, (x, y))


@pytest.mark.parametrize("residual", WIRINGS, ids=lambda wiring: wiring.kind)
def test_a_block_equals_transformerdecoderlayer(residual: ResidualConfig) -> None:
    first = residual.kind == "pre-norm"
    theirs = nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, batch_first=True, norm_first=first)
    randomise(theirs)
    ours = BlockLayer(WIDTH, block(residual, cross=True), Position(), causal=True, memory_width=WIDTH)
    links = decoder_links(ours, theirs)
    link.copy(links, ours)
    x, memory, keep = batch(5), batch(7), real_tokens(LENGTHS, 7)
    y, their_memory = twin(x), twin(memory)
    future = nn.Transformer.generate_square_subsequent_mask(5).isinf()
    expected = theirs(y, their_memory, tgt_mask=future, memory_key_padding_mask=~keep)
    result, _ = ours(x, Context.whole(x, Mask(causal=True), Memory(memory, keep)))
    assert_alike(result, expected, links, (x, y), (memory, their_memory))


@pytest.mark.parametrize("residual", WIRINGS, ids=lambda wiring: wiring.kind)
def test_two_stacks_equal_torch_transformer(residual: ResidualConfig) -> None:
    first = residual.kind == "pre-norm"
    theirs = nn.Transformer(WIDTH, HEADS, 2, 3, HIDDEN, dropout=0.0, batch_first=True, norm_first=first)
    randomise(theirs)
    stack = Stack(layers=2, block=block(residual, cross=False), final_norm=True)  # PyTorch ends with a norm always
    encoder = stack.build(WIDTH, causal=False)
    decoder = replace(stack, layers=3, block=block(residual, cross=True)).build(WIDTH, True, WIDTH)
    links = link.modules(encoder.norm, theirs.encoder.norm) + link.modules(decoder.norm, theirs.decoder.norm)
    for mine, other in zip(encoder.blocks, theirs.encoder.layers, strict=True):
        links += encoder_links(mine, other)
    for mine, other in zip(decoder.blocks, theirs.decoder.layers, strict=True):
        links += decoder_links(mine, other)
    link.copy(links, nn.ModuleList([encoder, decoder]))
    source, target, keep = batch(7), batch(5), real_tokens(LENGTHS, 7)
    their_source, their_target = twin(source), twin(target)
    expected = theirs(
        their_source,
        their_target,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(5).isinf(),
        src_key_padding_mask=~keep,
        memory_key_padding_mask=~keep,
    )
    memory = Memory(encoder(source, Context.whole(source, Mask(keys=keep)))[0], keep)
    result, _ = decoder(target, Context.whole(target, Mask(causal=True), memory))
    assert_alike(result, expected, links, (source, their_source), (target, their_target))
