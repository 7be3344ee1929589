"""Hugging Face's names of readers of pictures: ViT, DeiT, DINOv2, ResNet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from regard.errors import DataError
from regard.interop.family import ACTIVATIONS, Family, FieldRule, Fields, plainly, read_fields, written_fields
from regard.interop.rules import Rule, layer, normed, projections, same
from regard.models import PictureEncoder
from regard.nn.backbones import ResidualNet
from regard.nn.backbones.residual import BOTTLENECK
from regard.nn.feedforward import MLP, Gated
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.positions import LearnedGrid
from regard.nn.residual import LayerScale, PreNorm, ResidualConfig
from regard.nn.stacks import Block, Stack

# --- ViT and DeiT -----------------------------------------------------------------------------------------------------

BODY = (
    FieldRule("hidden_size", "width", 768),
    FieldRule("num_hidden_layers", "encoder.layers", 12),
    FieldRule("num_attention_heads", "encoder.block.attention.heads", 12),
    FieldRule("intermediate_size", "encoder.block.feedforward.hidden", 3072),
    FieldRule("image_size", "side", 224),
    FieldRule("patch_size", "backbone.size", 16),
    FieldRule("layer_norm_eps", "encoder.block.norm.eps", 1e-12),
    FieldRule("hidden_dropout_prob", "encoder.block.residual.dropout", 0.0, also=("dropout",)),
    FieldRule("attention_probs_dropout_prob", "encoder.block.attention.weight_dropout", 0.0),
)
ACTIVATION = FieldRule("hidden_act", "encoder.block.feedforward.activation", "gelu", ACTIVATIONS)
VIT_FIELDS = (*BODY, ACTIVATION)
FIXED = {"num_channels": 3, "qkv_bias": True}


def transformer(residual: ResidualConfig, tokens: int = 1, gated: bool = False) -> PictureEncoder:
    """Patches, so many tokens in front of them, learned positions; norms before the sublayers."""
    feedforward = Gated(bias=True) if gated else MLP(activation="gelu")
    stack = Stack(
        block=Block(feedforward=feedforward, norm=LayerNorm(), residual=residual), position=LearnedGrid(leading=tokens)
    )
    return PictureEncoder(init=Normal(std=0.02, truncated=True), tokens=tokens, encoder=stack)


def read_patches(base: PictureEncoder, rules: Sequence[FieldRule], given: Fields) -> PictureEncoder:
    """With a place for each patch of a picture."""
    found = read_fields(base, rules, squared(given))
    side, size = found.side, getattr(found.backbone, "size", 1)
    if side % size:
        raise DataError(f"{given.where}: pictures of {side} pixels do not come apart into squares of {size}")
    assert isinstance(found.encoder, Stack)
    position = LearnedGrid(rows=side // size, columns=side // size, leading=found.tokens)
    return replace(found, encoder=replace(found.encoder, position=position))


def squared(given: Fields) -> Fields:
    """With one number for the side of a picture, and one for that of a patch."""
    found = dict(given.values)
    for name in ("image_size", "patch_size"):
        value = found.get(name)
        if isinstance(value, list):
            if len(set(value)) != 1:
                raise DataError(f"{given.where}: {name} is {value!r}; only squares have a counterpart here")
            found[name] = value[0]
    return Fields(found, given.where)


def written_patches(config: PictureEncoder, rules: Sequence[FieldRule]) -> dict[str, Any]:
    """Their side is that of a picture which has as many patches as there are places."""
    found, rows = written_fields(config, rules), getattr(plainly(config.encoder).position, "rows", 1)
    return found | FIXED | {"image_size": rows * found["patch_size"]}


def around_the_blocks(*tokens: str) -> list[Rule]:
    """What stands before the blocks, and the norm behind them."""
    places = "embeddings.position_embeddings"
    return [
        first_tokens([f"embeddings.{token}" for token in tokens]),
        Rule("encoder.positions.0.table.weight", (places,), lambda given: given[0][0], lambda own: [own[None]]),
        *layer("backbone.project", "embeddings.patch_embeddings.projection"),
        *layer("encoder.norm", "layernorm"),
    ]


def first_tokens(theirs: Sequence[str]) -> Rule:
    """Each a tensor of its own there."""
    return Rule(
        "tokens.weight",
        tuple(theirs),
        lambda given: torch.cat([token[0] for token in given]),
        lambda own: [token[None, None] for token in own],
    )


def attention(config: PictureEncoder, ours: str, theirs: str) -> list[Rule]:
    dims = plainly(config.encoder).block.attention.dims(config.width, causal=False)
    three = [f"{theirs}.attention.attention.{name}" for name in ("query", "key", "value")]
    return [
        *projections(f"{ours}.attention.qkv", three, dims),
        *layer(f"{ours}.attention.out", f"{theirs}.attention.output.dense"),
    ]


def vit_family(kind: str, name: str, *tokens: str) -> Family:
    """ViT's, or one with more tokens in front."""

    def rules(config: PictureEncoder, given: Fields) -> list[Rule]:
        found = around_the_blocks(*tokens)
        for i in range(plainly(config.encoder).layers):
            ours, theirs = f"encoder.blocks.{i}", f"encoder.layer.{i}"
            found += [
                *attention(config, ours, theirs),
                *layer(f"{ours}.attention_join.norm", f"{theirs}.layernorm_before"),
                *layer(f"{ours}.feedforward.up", f"{theirs}.intermediate.dense"),
                *layer(f"{ours}.feedforward.down", f"{theirs}.output.dense"),
                *layer(f"{ours}.feedforward_join.norm", f"{theirs}.layernorm_after"),
            ]
        return found

    return Family(
        kind=kind,
        model=PictureEncoder,
        prefix=f"{kind}.",
        heads=("classifier.", "cls_classifier.", "distillation_classifier.", "decoder."),
        config=lambda given, names: read_patches(transformer(PreNorm(), len(tokens)), VIT_FIELDS, given),
        fields=lambda config, pad: written_patches(config, VIT_FIELDS),
        rules=rules,
        architecture=lambda config: f"{name}Model",
        longest=lambda given: 0,
        fixed=FIXED,
        idle=r"embeddings\.mask_token",
        unread=r"(pooler|classifier|cls_classifier|distillation_classifier|decoder)\..+",
        limited=False,
        beside=pooler,
    )


def pooler(config: PictureEncoder) -> dict[str, Tensor]:
    """A layer that the class without a head has, and that nothing here reads."""
    return {
        "pooler.dense.weight": torch.zeros(config.width, config.width),
        "pooler.dense.bias": torch.zeros(config.width),
    }


VIT = vit_family("vit", "ViT", "cls_token")
DEIT = vit_family("deit", "DeiT", "cls_token", "distillation_token")


# --- DINOv2 -----------------------------------------------------------------------------------------------------------

DINOV2_USUAL = {"patch_size": 14, "layer_norm_eps": 1e-6, "mlp_ratio": 4}
SCALE = FieldRule("layerscale_value", "encoder.block.residual.start", 1.0)


def hidden_of(width: int, ratio: int, gated: bool) -> int:
    """How wide its feed-forward layers are inside: where they are gated, by two thirds, as a multiple of eight."""
    hidden = width * ratio
    return (int(hidden * 2 / 3) + 7) // 8 * 8 if gated else hidden


def dinov2_config(given: Fields, names: Collection[str]) -> PictureEncoder:
    whole = Fields({**DINOV2_USUAL, **given.values}, given.where)
    gated = whole.flag("use_swiglu_ffn", False)
    hidden = hidden_of(whole.number("hidden_size", 768), whole.number("mlp_ratio"), gated)
    rules = (*BODY, SCALE) if gated else (*BODY, SCALE, ACTIVATION)
    own = Fields({**whole.values, "intermediate_size": hidden}, given.where)
    return read_patches(transformer(LayerScale(), gated=gated), rules, own)


def dinov2_fields(config: PictureEncoder, pad: int) -> dict[str, Any]:
    """`mlp_ratio` is the one that gives so many hidden values, where there is one."""
    found = written_patches(config, (*BODY, SCALE, ACTIVATION))
    hidden, gated = found.pop("intermediate_size"), isinstance(plainly(config.encoder).block.feedforward, Gated)
    ratio = next((n for n in range(1, 33) if hidden_of(config.width, n, gated) == hidden), 4)
    return found | {"mlp_ratio": ratio, "use_swiglu_ffn": gated, "use_mask_token": False}


def dinov2_rules(config: PictureEncoder, given: Fields) -> list[Rule]:
    found, stack = around_the_blocks("cls_token"), plainly(config.encoder)
    up, down = ("weights_in", "weights_out") if isinstance(stack.block.feedforward, Gated) else ("fc1", "fc2")
    for i in range(stack.layers):
        ours, theirs = f"encoder.blocks.{i}", f"encoder.layer.{i}"
        found += [
            *attention(config, ours, theirs),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.norm1"),
            same(f"{ours}.attention_join.scale", f"{theirs}.layer_scale1.lambda1"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.mlp.{up}"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.mlp.{down}"),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.norm2"),
            same(f"{ours}.feedforward_join.scale", f"{theirs}.layer_scale2.lambda1"),
        ]
    return found


DINOV2 = Family(
    kind="dinov2",
    model=PictureEncoder,
    prefix="dinov2.",
    heads=("classifier.",),
    config=dinov2_config,
    fields=dinov2_fields,
    rules=dinov2_rules,
    architecture=lambda config: "Dinov2Model",
    longest=lambda given: 0,
    fixed=FIXED,
    idle=VIT.idle,
    unread=r"classifier\..+",
    limited=False,
)


# --- ResNet -----------------------------------------------------------------------------------------------------------

LAYER_TYPES = {"bottleneck": "bottleneck", "basic": "basic"}
RESNET_FIXED = {"hidden_act": "relu", "num_channels": 3}
RESNET_FIXED |= {"downsample_in_first_stage": False, "downsample_in_bottleneck": False}


def widths_of(net: ResidualNet) -> list[int]:
    return [(net.inner << stage) * (BOTTLENECK if net.bottleneck else 1) for stage in range(len(net.blocks))]


def resnet_config(given: Fields, names: Collection[str]) -> PictureEncoder:
    counts = given.values.get("depths", [3, 4, 6, 3])
    if not isinstance(counts, list) or not all(isinstance(count, int) and count > 0 for count in counts):
        raise DataError(f"{given.where}: depths is {counts!r}; it takes a number of layers for each stage")
    net = ResidualNet(
        blocks=tuple(counts),
        inner=given.number("embedding_size", 64),
        bottleneck=given.one_of("layer_type", "bottleneck", LAYER_TYPES) == "bottleneck",
    )
    widths = given.values.get("hidden_sizes", widths_of(net))
    if widths != widths_of(net):
        raise DataError(f"{given.where}: hidden_sizes {widths} have no counterpart here, {widths_of(net)} alone have")
    return PictureEncoder(backbone=net, tokens=0, encoder=None)


def resnet_fields(config: PictureEncoder, pad: int) -> dict[str, Any]:
    net = config.backbone if isinstance(config.backbone, ResidualNet) else ResidualNet()
    about = {"embedding_size": net.inner, "hidden_sizes": widths_of(net), "depths": list(net.blocks)}
    return {**about, "layer_type": "bottleneck" if net.bottleneck else "basic", **RESNET_FIXED}


def resnet_rules(config: PictureEncoder, given: Fields) -> list[Rule]:
    net = config.backbone if isinstance(config.backbone, ResidualNet) else ResidualNet()

    def named(ours: str, theirs: str) -> list[Rule]:
        return normed(ours, f"{theirs}.convolution", f"{theirs}.normalization")

    found = named("backbone.first", "embedder.embedder")
    for stage, count in enumerate(net.blocks):
        for block in range(count):
            ours, theirs = f"backbone.stages.{stage}.{block}", f"encoder.stages.{stage}.layers.{block}"
            found += named(f"{ours}.past", f"{theirs}.shortcut")
            for number in range(3 if net.bottleneck else 2):
                found += named(f"{ours}.layers.{number}", f"{theirs}.layer.{number}")
    return found


RESNET = Family(
    kind="resnet",
    model=PictureEncoder,
    prefix="resnet.",
    heads=("classifier.",),
    config=resnet_config,
    fields=resnet_fields,
    rules=resnet_rules,
    architecture=lambda config: "ResNetModel",
    longest=lambda given: 0,
    fixed=RESNET_FIXED,
    idle=r".+\.num_batches_tracked",
    unread=r"classifier\..+",
    limited=False,
)
