"""Equality with the `transformers` package: GPT, GPT-2 in four sizes and Llama with random weights; outputs, gradients,
padding, caches and what is written."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import Tensor, nn

transformers = pytest.importorskip("transformers")

from regard.decoding import Decoding, complete  # noqa: E402
from regard.models import DecoderModel  # noqa: E402
from regard.nn.call.masks import positions_of, real_tokens  # noqa: E402
from regard.zoo import get  # noqa: E402
from regard.zoo.language import llama  # noqa: E402
from tests.helpers import SMALL, VOCABULARY, randomise  # noqa: E402
from tests.references import links as link  # noqa: E402
from tests.references.links import Get, Link, assert_equal  # noqa: E402

SIZES = {"gpt2": (768, 12), "gpt2-medium": (1024, 16), "gpt2-large": (1280, 20), "gpt2-xl": (1600, 25)}
KEEP = real_tokens(torch.tensor([9, 4, 7]), 9)
Pair = tuple[DecoderModel, nn.Module, list[Link]]
every_size = pytest.mark.parametrize("name", SIZES)
either_side = pytest.mark.parametrize("keep", [KEEP.flip(1), KEEP], ids=["left", "right"])


def some_tokens(batch: int = 3, length: int = 9) -> Tensor:
    return torch.randint(2, VOCABULARY, (batch, length))


def alike(ours: Tensor, theirs: Tensor, pair: Pair) -> None:
    for model in pair[:2]:
        model.zero_grad()
    link.assert_alike(ours, theirs, pair[2])


def linked(ours: nn.Module, theirs: nn.Module, links: list[Link]) -> Pair:
    assert isinstance(ours, DecoderModel)
    link.copy(links, ours)
    return ours.eval().double(), theirs.eval().double(), links


@functools.cache
def gpt2_pair(name: str = "gpt2", layers: int = 1, vocabulary: int = VOCABULARY, length: int = 256) -> Pair:
    """At its own width and heads, made once for all tests."""
    width, heads = SIZES[name]
    sizes = {"vocab_size": vocabulary, "n_embd": width, "n_layer": layers, "n_head": heads, "n_positions": length}
    config = transformers.GPT2Config(**sizes, bos_token_id=None, eos_token_id=None)
    theirs = transformers.GPT2LMHeadModel(config)
    randomise_gently(theirs)
    ours = get(name, layers=layers, vocabulary=vocabulary, length=length).build()
    return linked(ours, theirs, link.gpt2(ours, theirs))


def randomise_gently(model: nn.Module) -> None:
    """Wide layers add up many values: what is drawn is smaller than that of narrow test models."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)


def gpt_pair() -> Pair:
    sizes = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4}
    theirs = transformers.OpenAIGPTLMHeadModel(transformers.OpenAIGPTConfig(**sizes))
    randomise(theirs)
    ours = get("gpt", **SMALL | {"hidden": 128}).build()
    body = theirs.transformer
    links = [
        link.same(ours.embedding.tokens.weight, body.tokens_embed.weight),
        link.same(ours.decoder.position.table.weight, body.positions_embed.weight),
    ]
    for mine, other in zip(ours.decoder.blocks, body.h, strict=True):
        links += link.gpt2_layer(mine, other, 4)
    return linked(ours, theirs, links)


def llama_pair(tied: bool) -> Pair:
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=48,
        rms_norm_eps=1e-5,
        tie_word_embeddings=tied,
    )
    theirs = transformers.LlamaForCausalLM(config)
    randomise(theirs)
    ours = llama(2, 32, 4, 2, 48, VOCABULARY, tied).build()
    assert isinstance(ours, DecoderModel)
    body = theirs.model
    links = [
        link.same(ours.embedding.tokens.weight, body.embed_tokens.weight),
        *link.modules(ours.decoder.norm, body.norm),
        *([] if tied else [link.same(ours.head.weight, theirs.lm_head.weight)]),
    ]
    for mine, other in zip(ours.decoder.blocks, body.layers, strict=True):
        attention, mlp = other.self_attn, other.mlp

        def fused(get: Get, a: nn.Module = attention) -> Tensor:
            return link.by_head(2, get(a.q_proj.weight), get(a.k_proj.weight), get(a.v_proj.weight))

        def up(get: Get, m: nn.Module = mlp) -> Tensor:
            return torch.cat([get(m.gate_proj.weight), get(m.up_proj.weight)])

        links += [
            Link(mine.attention.qkv.weight, fused),
            *link.modules(mine.attention.out, attention.o_proj),
            *link.modules(mine.attention_join.norm, other.input_layernorm),
            *link.modules(mine.feedforward_join.norm, other.post_attention_layernorm),
            Link(mine.feedforward.up.weight, up),
            *link.modules(mine.feedforward.down, mlp.down_proj),
        ]
    return linked(ours, theirs, links)


def assert_alike(pair: Pair) -> None:
    ours, theirs, _ = pair
    tokens = some_tokens()
    alike(ours(tokens), theirs(tokens).logits, pair)


@every_size
def test_every_gpt2_equals_transformers_in_outputs_and_gradients(name: str) -> None:
    assert_alike(gpt2_pair(name))


@every_size
@either_side
def test_a_padded_gpt2_equals_transformers_in_outputs_and_gradients(name: str, keep: Tensor) -> None:
    pair = ours, theirs, _ = gpt2_pair(name)
    tokens = some_tokens()
    expected = theirs(tokens, attention_mask=keep.long(), position_ids=positions_of(keep)).logits[keep]
    result = ours(tokens, keep)[keep]
    alike(result, expected, pair)


@every_size
@either_side
@torch.no_grad()
def test_a_cached_gpt2_equals_transformers_with_and_without_a_cache(name: str, keep: Tensor) -> None:
    """A padded prompt, then token by token."""
    ours, theirs, _ = gpt2_pair(name)
    tokens, more = some_tokens(), some_tokens(length=5)
    whole = torch.cat([keep, torch.ones(3, 5, dtype=torch.bool)], 1)
    places = positions_of(whole)
    first = theirs(tokens, attention_mask=keep.long(), position_ids=places[:, :9], use_cache=True)
    cache = first.past_key_values
    state = ours.begin()
    logits = ours.step(tokens, state, keep)
    last = torch.arange(9).masked_fill(~keep, 0).amax(-1)
    assert_equal(logits, first.logits[torch.arange(3), last])
    for place in range(5):
        seen, one = whole[:, : 10 + place], more[:, place : place + 1]
        at = places[:, 9 + place : 10 + place]
        cached = theirs(one, attention_mask=seen.long(), position_ids=at, past_key_values=cache, use_cache=True)
        anew = theirs(
            torch.cat([tokens, more[:, : place + 1]], 1),
            attention_mask=seen.long(),
            position_ids=places[:, : 10 + place],
            use_cache=False,
        )
        logits = ours.step(one, state)
        assert_equal(logits, cached.logits[:, -1])
        assert_equal(logits, anew.logits[:, -1])


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if "l" in name else ()) for name in SIZES])
def test_greedy_gpt2_writes_the_same_200_tokens_as_transformers(name: str) -> None:
    ours, theirs, _ = gpt2_pair(name)
    prompt = some_tokens(1, 12)
    written = theirs.generate(prompt, do_sample=False, max_new_tokens=200, pad_token_id=0)[0, 12:].tolist()
    end = next(word for word in range(VOCABULARY) if word not in written)  # so that nothing ends early
    found = complete(ours, prompt, None, Decoding(max_length=200), end)[0][0]
    assert list(found.tokens) == written
    assert len(set(written)) > 2  # not one word again and again


def test_gpt_equals_transformers_in_outputs_and_gradients() -> None:
    assert_alike(gpt_pair())


@pytest.mark.parametrize("tied", [False, True])
def test_llama_with_grouped_heads_equals_transformers_in_outputs_and_gradients(tied: bool) -> None:
    assert_alike(llama_pair(tied))


@either_side
def test_a_padded_llama_equals_transformers(keep: Tensor) -> None:
    ours, theirs, _ = llama_pair(tied=False)
    tokens = some_tokens()
    expected = theirs(tokens, attention_mask=keep.long(), position_ids=positions_of(keep)).logits
    assert_equal(ours(tokens, keep)[keep], expected[keep])


def test_gpt2_loss_equals_that_of_transformers() -> None:
    pair = ours, theirs, _ = gpt2_pair()
    tokens = some_tokens()
    expected = theirs(tokens, labels=tokens).loss
    result = ours.head.loss(ours.features(tokens)[:, :-1], tokens[:, 1:])
    alike(result, expected, pair)


@pytest.mark.slow
def test_gpt2_at_full_size_equals_transformers() -> None:
    pair = ours, theirs, _ = gpt2_pair(layers=12, vocabulary=50_257, length=1024)
    assert sum(parameter.numel() for parameter in ours.parameters()) == theirs.num_parameters()
    tokens = torch.randint(0, 50_257, (2, 64))
    expected, result = theirs(tokens).logits, ours(tokens)
    assert_equal(result, expected)
    alike(result / 1000, expected / 1000, pair)
