"""The facts of SYSTEMS.md, section 1."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.nn.attention import Additive, Content, Dot, General, Kernel, KernelConfig, Location, MultiHead, ScaledDot
from regard.nn.attention.layer import CrossAttention, SelfAttention
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.norms import RMSNorm
from regard.nn.positions import HeadDims, NoPosition, Position, Sinusoidal
from tests.helpers import built, encoder, tokens, whole

HEADS, WIDTH = 2, 8
DIMS = HeadDims(HEADS * WIDTH, HEADS, HEADS, WIDTH, WIDTH)


def kernel(config: KernelConfig, dims: HeadDims = DIMS) -> Kernel:
    return config.build(dims, Position(), dropout=0.0)


def queries_and_keys(length: int = 5, span: int = 7) -> tuple[Tensor, Tensor, Context]:
    q, k = torch.randn(3, HEADS, length, WIDTH), torch.randn(3, HEADS, span, WIDTH)
    memory = Memory(torch.empty(3, span, 1))
    return q, k, Context.whole(torch.empty(3, length), Mask(), memory).across()


def weights_of(module: Kernel, q: Tensor, k: Tensor, context: Context) -> Tensor:
    return module.weights(q, module.ready(k, k, context)[0], context)


def softmax_of(scores: Tensor) -> Tensor:
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def test_scores_112_and_96_give_weights_of_088_and_012() -> None:
    q = torch.zeros(1, 1, 1, 64)
    q[..., 0] = 1
    k = torch.zeros(1, 1, 2, 64)
    k[0, 0, :, 0] = torch.tensor([112.0, 96.0])
    weights = kernel(ScaledDot(), HeadDims(64, 1, 1, 64, 64)).weights(q, k, whole(1, 2))
    assert (k[0, 0, :, 0] / 64**0.5).tolist() == [14, 12]
    assert [round(weight, 2) for weight in weights.flatten().tolist()] == [0.88, 0.12]


@pytest.mark.parametrize("width", [16, 64, 256])
def test_the_scaled_score_has_unit_variance_and_the_plain_one_that_of_the_width(width: int) -> None:
    q, k = torch.randn(2, 1, 1, 1000, width)
    scores = q @ k.transpose(-1, -2)
    assert scores.var().item() == pytest.approx(width, rel=0.05)
    scale = kernel(ScaledDot(), HeadDims(width, 1, 1, width, width)).scale
    assert (scores * scale).var().item() == pytest.approx(1, rel=0.05)


def test_dot() -> None:
    q, k, context = queries_and_keys()
    scores = torch.einsum("bhtk,bhsk->bhts", q, k)
    torch.testing.assert_close(weights_of(kernel(Dot()), q, k, context), softmax_of(scores))


def test_general() -> None:
    q, k, context = queries_and_keys()
    module = kernel(General())
    scores = torch.einsum("bhti,hij,bhsj->bhts", q, module.weight, k)
    torch.testing.assert_close(weights_of(module, q, k, context), softmax_of(scores))


def test_additive_is_a_network_on_the_concatenation() -> None:
    q, k, context = queries_and_keys()
    module = kernel(Additive(hidden=5))
    pairs = torch.cat([q[:, :, :, None].expand(-1, -1, -1, 7, -1), k[:, :, None].expand(-1, -1, 5, -1, -1)], -1)
    matrix = torch.cat([module.query, module.key], dim=1)  # W of W [q; k]
    hidden = torch.einsum("bhtsc,hcd->bhtsd", pairs, matrix).tanh()
    scores = torch.einsum("bhtsd,hd->bhts", hidden, module.v.flatten(1))
    torch.testing.assert_close(weights_of(module, q, k, context), softmax_of(scores))


def test_content_is_a_cosine_sharpened_by_the_key_strength() -> None:
    q, k, context = queries_and_keys()
    cosine = F.cosine_similarity(q[:, :, :, None], k[:, :, None], dim=-1)
    torch.testing.assert_close(weights_of(kernel(Content(strength=3)), q, k, context), softmax_of(3 * cosine))


def test_location_does_not_look_at_the_content_of_keys() -> None:
    q, k, context = queries_and_keys()
    module = kernel(Location(length=10))
    scores = torch.einsum("bhtk,hks->bhts", q, module.weight)[..., :7]
    weights = weights_of(module, q, k, context)
    torch.testing.assert_close(weights, softmax_of(scores))
    assert torch.equal(weights, weights_of(module, q, torch.randn_like(k), context))


def test_location_refuses_more_keys_than_it_has_places() -> None:
    q, k, context = queries_and_keys()
    with pytest.raises(ValueError, match="7 keys are more than the 6 places"):
        weights_of(kernel(Location(length=6)), q, k, context)


@pytest.mark.parametrize("value_width", [8, 5])
def test_the_attention_layer_equals_pytorch_with_any_widths(value_width: int) -> None:
    """A7: K = X W_K, V = X W_V, any number of queries, another width of memory and of values."""
    layer = MultiHead(heads=HEADS, value_width=value_width).build_cross(16, memory_width=24)
    assert isinstance(layer, CrossAttention)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    x, memory = torch.randn(3, 5, 16), torch.randn(3, 7, 24)
    result = layer(x, Context.whole(x, Mask(), Memory(memory)))
    q = layer.q(x).view(3, 5, HEADS, 8).transpose(1, 2)
    k, v = layer.kv(memory).view(3, 7, HEADS, 8 + value_width).transpose(1, 2).split([8, value_width], -1)
    expected = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    torch.testing.assert_close(result, layer.out(expected))


def self_attention(**options: object) -> SelfAttention:
    layer = MultiHead(heads=4, **options).build(16, Position(), causal=False)  # type: ignore[arg-type]
    assert isinstance(layer, SelfAttention)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return layer


def test_h_heads_equal_h_separate_heads() -> None:
    layer, x = self_attention(), torch.randn(2, 6, 16)
    rows, biases = layer.qkv.weight.view(4, 3, 4, 16), layer.qkv.bias.view(4, 3, 4)
    outputs = []
    for head in range(4):
        q, k, v = (x @ rows[head, i].t() + biases[head, i] for i in range(3))
        outputs.append(softmax_of(q @ k.transpose(1, 2) / 2) @ v)
    expected = layer.out(torch.cat(outputs, dim=-1))
    torch.testing.assert_close(layer(x, whole(2, 6)), expected)


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_grouped_heads_equal_full_heads_with_repeated_keys_and_values(kv_heads: int) -> None:
    grouped, full = self_attention(kv_heads=kv_heads), self_attention()
    x = torch.randn(2, 6, 16)
    shared = 4 // kv_heads

    def unfold(fused: Tensor) -> Tensor:
        """Rows grouped as (queries…, key, value) → rows grouped by head as (query, key, value)."""
        parts = fused.view(kv_heads, shared + 2, 4, -1)
        heads = [torch.stack([group[i], group[-2], group[-1]]) for group in parts for i in range(shared)]
        return torch.cat([head.flatten(0, 1) for head in heads])

    with torch.no_grad():
        full.qkv.weight.copy_(unfold(grouped.qkv.weight))
        full.qkv.bias.copy_(unfold(grouped.qkv.bias).squeeze(-1))
        full.out.load_state_dict(grouped.out.state_dict())
    torch.testing.assert_close(grouped(x, whole(2, 6)), full(x, whole(2, 6)))


def test_self_attention_follows_permutations_until_positions_are_added() -> None:
    """A8: f(s(x)) = s(f(x))."""
    order = torch.randperm(9)
    sentence = tokens(2, 9)
    without = built(encoder(position=NoPosition()))
    torch.testing.assert_close(without(sentence[:, order]), without(sentence)[:, order])
    placed = built(encoder(position=Sinusoidal()))
    assert not torch.allclose(placed(sentence[:, order]), placed(sentence)[:, order], atol=1e-2)


def test_attention_to_a_memory_needs_one() -> None:
    layer = MultiHead(heads=4).build_cross(16, 16)
    with pytest.raises(ValueError, match="attends to a memory, but none was given"):
        layer(torch.randn(2, 3, 16), whole(2, 3))


def test_a_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="width 30 is not divisible by 4 heads"):
        MultiHead(heads=4).build(30, Position(), causal=False)


@pytest.mark.parametrize("cross", [False, True])
def test_a_key_norm_bounds_scores_whatever_the_size_of_queries_and_keys(cross: bool) -> None:
    config = MultiHead(heads=HEADS, kernel=Dot(), bias=False, key_norm=RMSNorm())
    layer = config.build_cross(16, 16) if cross else config.build(16, Position(), causal=False)
    x = torch.randn(3, 5, 16)
    for weight in layer.parameters():
        if weight.dim() == 2:
            torch.nn.init.normal_(weight, std=50)
    context = Context.whole(x, Mask(), Memory(torch.randn(3, 7, 16)))
    seen: dict[str, Tensor] = {}

    class Watcher:
        model = layer

        def see(self, name: str, weights) -> None:  # type: ignore[no-untyped-def]
            pass

        def note(self, name: str, value) -> None:  # type: ignore[no-untyped-def]
            seen[name.rpartition(".")[2]] = value() if callable(value) else value

    context.watcher = Watcher()
    layer(x, context)
    for name in ("queries", "keys"):
        torch.testing.assert_close(seen[name].square().mean(-1), torch.ones(seen[name].shape[:-1]))
    assert seen["scores"].abs().max() <= 8.001  # two vectors of 8 values with a root mean square of one
