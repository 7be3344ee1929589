"""Which of our parameters equals what of a reference model, so that weights can be copied and gradients compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.attention.layer import CrossAttention, SelfAttention

Get = Callable[[Tensor], Tensor]


@dataclass
class Link:
    """`theirs(get)` puts our tensor together from theirs; `get` fetches a value or a gradient."""

    ours: Tensor
    theirs: Callable[[Get], Tensor]


def same(ours: Tensor, theirs: Tensor) -> Link:
    return Link(ours, lambda get: get(theirs))


def transposed(ours: Tensor, theirs: Tensor) -> Link:
    return Link(ours, lambda get: get(theirs).t())


def modules(ours: nn.Module, theirs: nn.Module) -> list[Link]:
    """Two modules whose weight and bias mean the same."""
    names = [name for name, _ in theirs.named_parameters(recurse=False)]
    return [same(getattr(ours, name), getattr(theirs, name)) for name in names]


def by_head(heads: int, *pieces: Tensor) -> Tensor:
    """Fuse matrices or biases, each (H·K, …), as our layers have them: for each head its rows of every piece."""
    rows = [piece.reshape(heads, -1, *piece.shape[1:]) for piece in pieces]
    return torch.cat(rows, dim=1).flatten(0, 1)


def projections(layer: SelfAttention, q: nn.Module, k: nn.Module, v: nn.Module) -> list[Link]:
    """Three linear layers against our fused one."""
    heads = layer.dims.heads
    return [
        Link(layer.qkv.weight, lambda get: by_head(heads, get(q.weight), get(k.weight), get(v.weight))),
        Link(layer.qkv.bias, lambda get: by_head(heads, get(q.bias), get(k.bias), get(v.bias))),
    ]


def cross_projections(layer: CrossAttention, q: nn.Module, k: nn.Module, v: nn.Module) -> list[Link]:
    heads = layer.dims.heads
    return [
        *modules(layer.q, q),
        Link(layer.kv.weight, lambda get: by_head(heads, get(k.weight), get(v.weight))),
        Link(layer.kv.bias, lambda get: by_head(heads, get(k.bias), get(v.bias))),
    ]


def torch_self(layer: SelfAttention, theirs: nn.MultiheadAttention) -> list[Link]:
    heads = layer.dims.heads
    return [
        Link(layer.qkv.weight, lambda get: by_head(heads, *get(theirs.in_proj_weight).chunk(3))),
        Link(layer.qkv.bias, lambda get: by_head(heads, *get(theirs.in_proj_bias).chunk(3))),
        *modules(layer.out, theirs.out_proj),
    ]


def torch_cross(layer: CrossAttention, theirs: nn.MultiheadAttention) -> list[Link]:
    heads = layer.dims.heads

    def piece(name: str, index: int) -> Callable[[Get], Tensor]:
        return lambda get: get(getattr(theirs, name)).chunk(3)[index]

    links = [Link(layer.q.weight, piece("in_proj_weight", 0)), Link(layer.q.bias, piece("in_proj_bias", 0))]
    for ours, name in ((layer.kv.weight, "in_proj_weight"), (layer.kv.bias, "in_proj_bias")):
        keys, values = piece(name, 1), piece(name, 2)
        links.append(Link(ours, lambda get, keys=keys, values=values: by_head(heads, keys(get), values(get))))
    return [*links, *modules(layer.out, theirs.out_proj)]


def copy(links: list[Link], model: nn.Module) -> None:
    """Copy all weights; every parameter of our model must be linked."""
    linked = {id(link.ours) for link in links}
    missing = [name for name, parameter in model.named_parameters() if id(parameter) not in linked]
    assert not missing, f"not linked: {missing}"
    with torch.no_grad():
        for link in links:
            link.ours.copy_(link.theirs(lambda tensor: tensor))


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def assert_gradients_equal(links: list[Link]) -> None:
    for link in links:
        assert link.ours.grad is not None
        assert_equal(link.ours.grad, link.theirs(lambda tensor: tensor.grad))


def assert_alike(
    ours: Tensor, theirs: Tensor, links: list[Link], *inputs: tuple[Tensor, Tensor], scale: float = 1.0
) -> None:
    """What two models make is equal, and so are the gradients of their weights and of their inputs, ours and theirs."""
    assert_equal(ours, theirs.to(ours.dtype))
    upstream = torch.randn_like(ours) * scale
    ours.backward(upstream)
    theirs.backward(upstream.to(theirs.dtype))
    for mine, other in inputs:
        assert_equal(mine.grad, other.grad)
    assert_gradients_equal(links)


def marian(ours: Any, theirs: Any) -> list[Link]:
    """An encoder-decoder of ours and a `MarianMTModel`; its output bias is the second link."""
    found = [
        same(ours.embedding.tokens.weight, theirs.model.shared.weight),
        Link(ours.head.bias, lambda get: theirs.final_logits_bias.squeeze(0)),
    ]
    for block, layer in zip(ours.encoder.blocks, theirs.model.encoder.layers, strict=True):
        found += marian_layer(block, layer)
    for block, layer in zip(ours.decoder.blocks, theirs.model.decoder.layers, strict=True):
        cross = layer.encoder_attn
        found += [
            *marian_layer(block, layer),
            *cross_projections(block.cross, cross.q_proj, cross.k_proj, cross.v_proj),
            *modules(block.cross.out, cross.out_proj),
            *modules(block.cross_join.norm, layer.encoder_attn_layer_norm),
        ]
    return found


def marian_layer(block: Any, layer: Any) -> list[Link]:
    attention = layer.self_attn
    return [
        *projections(block.attention, attention.q_proj, attention.k_proj, attention.v_proj),
        *modules(block.attention.out, attention.out_proj),
        *modules(block.attention_join.norm, layer.self_attn_layer_norm),
        *modules(block.feedforward.up, layer.fc1),
        *modules(block.feedforward.down, layer.fc2),
        *modules(block.feedforward_join.norm, layer.final_layer_norm),
    ]


def gpt2(ours: Any, theirs: Any) -> list[Link]:
    """GPT2LMHeadModel."""
    body = theirs.transformer
    links = [
        same(ours.embedding.tokens.weight, body.wte.weight),
        same(ours.decoder.position.table.weight, body.wpe.weight),
        *modules(ours.decoder.norm, body.ln_f),
    ]
    for block, layer in zip(ours.decoder.blocks, body.h, strict=True):
        links += gpt2_layer(block, layer, theirs.config.n_head)
    return links


def gpt2_layer(block: Any, layer: Any, heads: int) -> list[Link]:
    qkv, fused = block.attention.qkv, layer.attn.c_attn
    return [
        Link(qkv.weight, lambda get: by_head(heads, *get(fused.weight).t().chunk(3))),
        Link(qkv.bias, lambda get: by_head(heads, *get(fused.bias).chunk(3))),
        transposed(block.attention.out.weight, layer.attn.c_proj.weight),
        same(block.attention.out.bias, layer.attn.c_proj.bias),
        *modules(block.attention_join.norm, layer.ln_1),
        *modules(block.feedforward_join.norm, layer.ln_2),
        transposed(block.feedforward.up.weight, layer.mlp.c_fc.weight),
        same(block.feedforward.up.bias, layer.mlp.c_fc.bias),
        transposed(block.feedforward.down.weight, layer.mlp.c_proj.weight),
        same(block.feedforward.down.bias, layer.mlp.c_proj.bias),
    ]
