"""SNAIL: its blocks against their formulas, and what it learns."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import regard
from regard.config import ConfigError
from regard.models import Snail, SnailModel
from regard.nn.attention import KernelConfig
from regard.nn.call.masks import Mask
from regard.nn.call.watch import silenced
from regard.nn.recurrent.temporal import CausalAttention, DenseBlock, TemporalLayers
from tests.helpers import CAUSAL_KERNELS, VOCABULARY, label, tokens, whole


def built(**fields: object) -> SnailModel:
    layers = TemporalLayers(length=8, filters=6, keys=(5, 7), values=(4, 3), **fields)  # type: ignore[arg-type]
    model = Snail(vocabulary=VOCABULARY, width=16, layers=layers).build()
    assert isinstance(model, SnailModel)
    return model.eval()


# --- the blocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dilation", [1, 2, 4])
def test_a_dense_block_is_a_gated_causal_convolution_beside_its_input(dilation: int) -> None:
    """Against PyTorch's convolution: tanh(f) σ(g), two taps, nothing before the first step."""
    block, x = DenseBlock(3, dilation, filters=5), torch.randn(2, 9, 3)
    torch.nn.init.normal_(block.taps.weight)
    torch.nn.init.normal_(block.taps.bias)
    kernel = block.taps.weight.view(10, 2, 3).transpose(1, 2)  # (out, in, taps)
    before = torch.nn.functional.pad(x.transpose(1, 2), (dilation, 0))
    f, g = torch.nn.functional.conv1d(before, kernel, block.taps.bias, dilation=dilation).transpose(1, 2).chunk(2, -1)
    found = block(x, whole(2, 9, Mask(causal=True)))
    torch.testing.assert_close(found, torch.cat([x, f.tanh() * g.sigmoid()], -1))


def test_an_attention_block_reads_the_past_beside_its_input() -> None:
    """softmax(q·k / sqrt(K)) v over the steps so far, as a plain loop."""
    block, x = CausalAttention(TemporalLayers().kernel, 6, keys=4, values=3), torch.randn(1, 5, 6)
    torch.nn.init.normal_(block.qkv.weight)
    torch.nn.init.normal_(block.qkv.bias)
    found = block(x, whole(1, 5, Mask(causal=True)))
    q, k, v = block.qkv(x)[0].split([4, 4, 3], -1)
    for t in range(5):
        weights = torch.stack([q[t] @ k[s] / 2 for s in range(t + 1)]).softmax(-1)
        torch.testing.assert_close(found[0, t], torch.cat([x[0, t], weights @ v[: t + 1]]))


def test_dilations_double_until_they_reach_over_the_length() -> None:
    for length, dilations in ((2, [1]), (8, [1, 2, 4]), (9, [1, 2, 4, 8]), (26, [1, 2, 4, 8, 16])):
        stack = TemporalLayers(length=length, filters=2, keys=(3, 3), values=(2, 2)).build(4)
        assert [block.dilation for block in stack.rounds[1].dense] == dilations
        assert len(stack.rounds[0].dense) == 0
        assert stack.out_width == 4 + 2 + 2 * len(dilations) + 2


def test_widths_of_keys_and_values_come_in_pairs() -> None:
    with pytest.raises(ConfigError, match="3 widths of keys and 2 of values"):
        TemporalLayers(values=(8, 8))


# --- a language model -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", CAUSAL_KERNELS, ids=label)
def test_any_score_serves_its_attention(kernel: KernelConfig) -> None:
    model, read = built(kernel=kernel), tokens(2, 6)
    plain = model(read)
    with regard.watch(model) as seen:
        assert torch.equal(model(read), plain)
    assert list(seen) == ["decoder.0.self", "decoder.1.self"]
    weights = seen.last("decoder.1.self")
    assert weights.shape == (2, 1, 6, 6)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 1, 6))
    assert weights.triu(1).eq(0).all()


def test_a_silent_head_changes_what_is_written() -> None:
    model, read = built(), tokens(2, 6)
    with silenced(model, {"decoder.1.self": [0]}):
        silent = model(read)
    assert not torch.allclose(silent, model(read))


def test_it_learns_to_recall_what_followed_a_word_before() -> None:
    """Sequence prediction: pairs of a word and its meaning, drawn anew each time; then a word that comes again."""
    torch.manual_seed(3)
    layers = TemporalLayers(length=12, filters=16, keys=(16, 16), values=(16, 16))
    model = Snail(vocabulary=20, width=24, layers=layers).build()

    def episodes(count: int) -> tuple[Tensor, Tensor]:
        words = torch.stack([torch.randperm(8)[:5] for _ in range(count)])
        meanings = torch.randint(8, 20, (count, 5))
        asked = torch.randint(0, 5, (count, 1))
        told = torch.stack([words, meanings], -1).flatten(1)
        return torch.cat([told, words.gather(1, asked)], 1), meanings.gather(1, asked)[:, 0]

    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(300):
        read, answer = episodes(64)
        loss = torch.nn.functional.cross_entropy(model(read)[:, -1], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    read, answer = episodes(500)
    assert (model.eval()(read)[:, -1].argmax(-1) == answer).float().mean() > 0.9
