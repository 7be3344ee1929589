"""Readers of pictures: equal to their references with the same weights, at any size, and as large as stated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import regard
from regard.config import ConfigError, change
from regard.errors import Error
from regard.interop.rules import fused
from regard.models import Classifier, PictureEncoder
from regard.nn.attention import MultiHead
from regard.nn.backbones import ConvolutionalTokens, GridAttention, InvertedResidualNet, Patches, ResidualNet
from regard.nn.feedforward import MLP
from regard.nn.norms import LayerNorm
from regard.nn.pooling import AttentionPooling
from regard.nn.positions import LearnedGrid, SinusoidalGrid, sinusoids
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack
from tests.helpers import PICTURES, built, pictures, randomise, unsettle

every_picture_preset = pytest.mark.parametrize("name", PICTURES)


def vit(**changes: Any) -> PictureEncoder:
    norm = LayerNorm(eps=1e-12)
    block = Block(MultiHead(heads=4), None, MLP(hidden=64, activation="gelu"), norm, PreNorm())
    position = changes.pop("position", LearnedGrid(rows=4, columns=4))
    return PictureEncoder(
        side=32, width=48, backbone=Patches(size=8), encoder=Stack(layers=2, position=position, block=block), **changes
    )


# --- equality ---------------------------------------------------------------------------------------------------------


def test_a_vision_transformer_equals_that_of_transformers_at_its_size_and_at_others() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        image_size=32,
        patch_size=8,
        attn_implementation="eager",
    )
    theirs = transformers.ViTModel(config, add_pooling_layer=False).eval()
    randomise(theirs)
    ours = vit().build().eval()
    ours.load_state_dict(of_vit(theirs.state_dict(), ours.config))
    for side in (32, 48):
        given = torch.randn(2, 3, side, side - 8)
        with torch.no_grad(), regard.watch(ours) as seen:
            expected = theirs(given, interpolate_pos_encoding=True, output_attentions=True)
            torch.testing.assert_close(ours(given), expected.last_hidden_state, rtol=1e-5, atol=1e-5)
        for layer, weights in enumerate(expected.attentions):
            torch.testing.assert_close(seen.last(f"encoder.{layer}.self"), weights, rtol=1e-5, atol=1e-5)


def of_vit(theirs: Mapping[str, Tensor], config: PictureEncoder) -> dict[str, Tensor]:
    """Our names of their tensors."""
    dims = config.encoder.block.attention.dims(config.width, causal=False)  # type: ignore[union-attr]
    found = {
        "tokens.weight": theirs["embeddings.cls_token"][0],
        "encoder.positions.0.table.weight": theirs["embeddings.position_embeddings"][0],
    }
    parts = {"attention.out": "attention.o_proj", "attention_join.norm": "layernorm_before"}
    parts |= {"feedforward.up": "mlp.fc1", "feedforward.down": "mlp.fc2", "feedforward_join.norm": "layernorm_after"}
    for kind in ("weight", "bias"):
        found[f"backbone.project.{kind}"] = theirs[f"embeddings.patch_embeddings.projection.{kind}"]
        found[f"encoder.norm.{kind}"] = theirs[f"layernorm.{kind}"]
        for layer in range(2):
            own, other = f"encoder.blocks.{layer}", f"layers.{layer}"
            three = [theirs[f"{other}.attention.{name}_proj.{kind}"] for name in "qkv"]
            found[f"{own}.attention.qkv.{kind}"] = fused(three, dims, paired=False)
            found |= {f"{own}.{ours}.{kind}": theirs[f"{other}.{name}.{kind}"] for ours, name in parts.items()}
    return found


@pytest.mark.parametrize(("kind", "blocks", "bottleneck"), [("basic", (2, 1, 2), False), ("bottleneck", (1, 2), True)])
def test_a_residual_net_equals_that_of_transformers(kind: str, blocks: tuple[int, ...], bottleneck: bool) -> None:
    transformers = pytest.importorskip("transformers")
    widths = [16 * (4 if bottleneck else 1) * 2**stage for stage in range(len(blocks))]
    config = transformers.ResNetConfig(embedding_size=16, hidden_sizes=widths, depths=list(blocks), layer_type=kind)
    theirs = transformers.ResNetModel(config).eval()
    randomise(theirs)
    unsettle(theirs)
    ours = ResidualNet(blocks=blocks, inner=16, bottleneck=bottleneck).build(1).eval()
    ours.load_state_dict({of_resnet(name): tensor for name, tensor in theirs.state_dict().items()})
    given = torch.randn(2, 3, 64, 80)
    with torch.no_grad():
        torch.testing.assert_close(ours(given), theirs(given).last_hidden_state)


def of_resnet(name: str) -> str:
    name = name.replace("embedder.embedder.", "first.").replace(".normalization.", ".norm.").replace(".convolution", "")
    name = re.sub(r"encoder\.stages\.(\d+)\.layers\.(\d+)\.shortcut\.", r"stages.\1.\2.past.", name)
    return re.sub(r"encoder\.stages\.(\d+)\.layers\.(\d+)\.layer\.(\d+)\.", r"stages.\1.\2.layers.\3.", name)


def test_an_inverted_block_is_what_its_paper_says() -> None:
    """Wide, each channel for itself, narrow; padded as TensorFlow does, one more behind than in front."""
    net = InvertedResidualNet(end=None, stages=(change(InvertedResidualNet().stages[1], {"count": 1}),)).build(1).eval()
    unsettle(net)
    block, given = net.blocks[0], torch.randn(1, 32, 7, 8)

    def layer(part: Any, x: Tensor, pad: tuple[int, ...]) -> Tensor:
        norm = part.norm
        y = nn.functional.conv2d(nn.functional.pad(x, pad), part.weight, stride=part.stride, groups=part.groups)
        mean, deviation = norm.running_mean.view(-1, 1, 1), (norm.running_var + 1e-3).sqrt().view(-1, 1, 1)
        return (y - mean) / deviation * norm.weight.view(-1, 1, 1) + norm.bias.view(-1, 1, 1)

    wide = layer(block.wider, given, (0, 0, 0, 0)).clamp(0, 6)
    each = layer(block.each, wide, (0, 1, 1, 1)).clamp(0, 6)  # 8 columns become 4: one behind; 7 rows: one on each side
    torch.testing.assert_close(block(given), layer(block.narrower, each, (0, 0, 0, 0)), rtol=1e-4, atol=1e-4)


def test_attention_in_a_grid_equals_the_formula_and_its_input_at_first() -> None:
    layer, grid = GridAttention(32), torch.randn(2, 32, 5, 6)
    assert torch.equal(layer(grid), grid)
    with torch.no_grad():
        layer.gate.fill_(0.7)
        weights = layer.weights(grid).squeeze(1)  # (B, N, N)
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 30))
        mixed = (weights @ layer.value(grid).flatten(2).transpose(1, 2)).transpose(1, 2).view(grid.shape)
        torch.testing.assert_close(layer(grid), grid + 0.7 * mixed, rtol=1e-4, atol=1e-5)


def test_grid_attention_stands_behind_the_stages_that_are_named() -> None:
    net = ResidualNet(blocks=(1, 1, 1), inner=8, attention=(2,)).build(1)
    assert [any(isinstance(layer, GridAttention) for layer in stage) for stage in net.stages] == [False, True, False]
    with pytest.raises(ConfigError, match="attention behind stage 4: there are stages 1 to 3"):
        ResidualNet(blocks=(1, 1, 1), attention=(4,))


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_sizes_are_those_of_the_papers() -> None:
    exact = {
        "vit-base": 85_798_656,
        "vit-large": 303_301_632,
        "vit-huge": 630_764_800,
        "cct-7": 3_762_688,
        "resnet-18": 11_176_512,
        "resnet-50": 23_508_032,
        "efficientnet-lite0": 3_371_008,
    }
    for name, count in exact.items():
        description = regard.describe(name)
        assert description.parameters == count, name
        if description.published is not None and name != "efficientnet-lite0":
            assert abs(description.difference) < 0.02, name  # type: ignore[arg-type]


def test_a_description_counts_the_states_of_a_picture() -> None:
    assert regard.describe("vit-base").length == 1 + 14 * 14
    assert regard.describe("vit-base", side=64).length == 1 + 4 * 4
    with pytest.raises(Error, match="pictures have a size, not a length"):
        regard.describe("vit-base", length=10)


@every_picture_preset
def test_operations_equal_those_that_pytorch_counts(name: str) -> None:
    model = PICTURES[name].build().eval()
    given = pictures(model, batch=3)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(given)
    assert regard.describe(model, batch=3).multiply_adds == counter.get_total_flops() // 2


@every_picture_preset
def test_the_grid_is_as_large_as_it_says(name: str) -> None:
    model = built(PICTURES[name])
    side = model.config.side
    for height, width in ((side, side), (2 * side, side)):
        rows, columns = model.grid(height, width)
        assert model.backbone(torch.rand(1, 3, height, width)).shape[-2:] == (rows, columns)
        states = model(torch.rand(1, 3, height, width))
        assert states.shape == (1, model.config.tokens + rows * columns, model.states_width)


@pytest.mark.parametrize("length", [5, 8, 33, 100])
def test_convolutions_halve_any_side(length: int) -> None:
    for backbone in (ConvolutionalTokens(layers=2), ResidualNet(blocks=(1, 1)), InvertedResidualNet()):
        net = backbone.build(16).eval()
        assert net(torch.rand(1, 3, length, 40)).shape[-2:] == net.grid(length, 40)


# --- positions --------------------------------------------------------------------------------------------------------


def test_sinusoids_of_a_grid_tell_rows_from_columns() -> None:
    model = vit(position=SinusoidalGrid(leading=1)).build().eval()
    context, _ = model.enter(torch.rand(1, 3, 24, 32))
    places = model.encoder.position(torch.zeros(1, 13, 48), context)[0]
    assert torch.equal(places[0], torch.zeros(48))  # the class token
    grid = places[1:].view(3, 4, 48)
    assert torch.equal(grid[2, 1, :24], grid[2, 3, :24])
    assert torch.equal(grid[0, 3, 24:], grid[2, 3, 24:])
    torch.testing.assert_close(grid[2, 3], torch.cat([sinusoids(torch.tensor(p), 24) for p in (2, 3)]).float())


def test_places_beside_the_states_make_queries_and_keys_and_no_values() -> None:
    """As if x + places were projected for these, and x for those; and they cost what PyTorch counts."""
    position = SinusoidalGrid(leading=1, join="qk", whole=True)
    model = vit(position=position).build().eval()
    randomise(model)
    context, x = model.enter(torch.rand(2, 3, 24, 32))
    assert torch.equal(model.encoder.position(x, context), x)
    layer, places = model.encoder.blocks[0].attention, model.encoder.position.beside(context)
    assert places.shape == (13, 48)
    torch.testing.assert_close(places[-1, :24], sinusoids(torch.tensor(2 * torch.pi), 24))  # the last row ends at 2π
    q, k, v = layer.project(x, context)
    for found, expected, given in zip((q, k, v), range(3), (x + places, x + places, x), strict=True):
        torch.testing.assert_close(found, layer.split(layer.qkv(given.float()))[expected], rtol=1e-4, atol=1e-5)
    given = torch.rand(3, 3, 32, 32)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(given)
    assert regard.describe(model, batch=3).multiply_adds == counter.get_total_flops() // 2


def test_a_smaller_picture_takes_places_between_those_that_were_learnt() -> None:
    model = vit().build().eval()
    with torch.no_grad():
        model.encoder.position.table.weight.fill_(0.3)
    context, x = model.enter(torch.rand(1, 3, 16, 40))
    torch.testing.assert_close(model.encoder.position(x, context) - x, torch.full_like(x, 0.3))


# --- bad input --------------------------------------------------------------------------------------------------------


def test_pictures_of_a_wrong_shape_are_refused() -> None:
    model = vit().build()
    with pytest.raises(ValueError, match=r"pictures have shape \(3, 32, 32\)"):
        model(torch.rand(3, 32, 32))
    with pytest.raises(ValueError, match=r"torch.uint8; they take \(B, 3, H, W\) real numbers"):
        model(torch.zeros(1, 3, 32, 32, dtype=torch.uint8))
    with pytest.raises(Error, match="30 × 32 pixels does not come apart into squares of 8"):
        model(torch.rand(1, 3, 32, 30))


def test_tokens_without_a_stack_are_refused() -> None:
    with pytest.raises(ConfigError, match="1 tokens in front of the grid say nothing without a stack"):
        PictureEncoder(encoder=None)


@every_picture_preset
def test_a_picture_preset_is_exported_for_any_batch(name: str) -> None:
    model = built(PICTURES[name])
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(model, (pictures(model, 2),), dynamic_shapes=({0: batch},))
    given = pictures(model, 5)
    torch.testing.assert_close(program.module()(given), model(given), rtol=1e-4, atol=1e-4)


def test_a_classifier_stands_on_any_reader_of_pictures() -> None:
    """What it costs is what PyTorch counts; a picture alone is judged as in its batch; its pool can be watched."""
    for reader in PICTURES.values():
        model = built(Classifier(reader=reader, pool=AttentionPooling(), labels=3))
        shown = pictures(model.reader, 3)
        with regard.watch(model) as seen, torch.no_grad():
            logits = model(shown)
        torch.testing.assert_close(logits[1:2], model(shown[1:2]), rtol=1e-4, atol=1e-5)
        assert seen["pool.0.words"][0].shape[-1] == model.reader.states
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            model(*model.example(2, 1))
        assert 2 * regard.describe(model, batch=2).multiply_adds == counter.get_total_flops()


def test_a_frozen_network_of_convolutions_stays_as_it_is() -> None:
    model = built(PictureEncoder(side=32, tokens=0, encoder=None, backbone=ResidualNet(blocks=(1,), inner=4)))
    shown, before = pictures(model, 3), {name: value.clone() for name, value in model.state_dict().items()}
    expected = model(shown)
    model.requires_grad_(False).train()
    torch.testing.assert_close(model(shown), expected)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    model.requires_grad_(True).train()
    model(shown)
    assert not torch.equal(
        model.state_dict()["backbone.first.norm.running_mean"], before["backbone.first.norm.running_mean"]
    )
