"""Equality with DETR of the `transformers` package: outputs, weights, matching, loss and gradients, copied weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

transformers = pytest.importorskip("transformers")
pytest.importorskip("scipy")

from transformers.loss.loss_for_object_detection import ForObjectDetectionLoss, HungarianMatcher  # noqa: E402

import regard  # noqa: E402
from regard.models import Detector, PictureEncoder  # noqa: E402
from regard.models.detector import DetectorModel  # noqa: E402
from regard.nn.attention import MultiHead  # noqa: E402
from regard.nn.backbones import ResidualNet  # noqa: E402
from regard.nn.boxes import centred  # noqa: E402
from regard.nn.feedforward import MLP  # noqa: E402
from regard.nn.matching import Things  # noqa: E402
from regard.nn.positions import SinusoidalGrid  # noqa: E402
from regard.nn.queries import LearnedQueries  # noqa: E402
from regard.nn.stacks import Block, Stack  # noqa: E402
from tests.helpers import randomise  # noqa: E402
from tests.models.test_pictures import of_resnet, unsettle  # noqa: E402
from tests.references import links as link  # noqa: E402
from tests.references.links import Link, assert_gradients_equal  # noqa: E402

WIDTH, QUERIES, LABELS, LAYERS = 32, 7, 3, 2


def theirs_and_ours() -> tuple[Any, DetectorModel]:
    backbone = transformers.ResNetConfig(
        embedding_size=6, hidden_sizes=[6, 12, 24], depths=[1, 1, 1], layer_type="basic", out_features=["stage3"]
    )
    config = transformers.DetrConfig(
        backbone_config=backbone,
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        num_labels=LABELS,
        num_queries=QUERIES,
        d_model=WIDTH,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        dropout=0.0,
        attn_implementation="eager",
    )
    theirs = transformers.DetrForObjectDetection(config).eval()
    randomise(theirs)
    unsettle(theirs)
    block = Block(MultiHead(heads=4), None, MLP(hidden=48))
    ours = Detector(
        labels=LABELS,
        reader=PictureEncoder(
            side=64,
            width=WIDTH,
            tokens=0,
            backbone=ResidualNet(blocks=(1, 1, 1), inner=6),
            encoder=Stack(LAYERS, block, SinusoidalGrid(join="qk", whole=True)),
        ),
        queries=LearnedQueries(QUERIES),
        decoder=Stack(LAYERS, Block(MultiHead(heads=4), MultiHead(heads=4), MLP(hidden=48)), final_norm=True),
    ).build()
    assert isinstance(ours, DetectorModel)
    with torch.no_grad():
        state = theirs.model.backbone.model.state_dict()
        ours.reader.backbone.load_state_dict({of_resnet(name): one for name, one in state.items()}, strict=False)
        for one in links(ours, theirs):
            one.ours.copy_(one.theirs(lambda tensor: tensor.detach()))
    return theirs, ours.eval()


def links(ours: DetectorModel, theirs: Any) -> list[Link]:
    """All but the backbone."""
    model = theirs.model
    found = [
        Link(ours.reader.project.weight, lambda get: get(model.input_projection.weight).flatten(1)),
        link.same(ours.reader.project.bias, model.input_projection.bias),
        link.same(ours.queries.table.weight, model.query_position_embeddings.weight),
        *link.modules(ours.decoder.norm, model.decoder.layernorm),
        *link.modules(ours.classes, theirs.class_labels_classifier),
    ]
    for mine, other in zip(ours.box.layers, theirs.bbox_predictor.layers, strict=True):
        found += link.modules(mine, other)
    stacks = ((ours.reader.encoder, model.encoder), (ours.decoder, model.decoder))
    for block, layer in [pair for one, two in stacks for pair in zip(one.blocks, two.layers, strict=True)]:
        attention = layer.self_attn
        found += link.projections(block.attention, attention.q_proj, attention.k_proj, attention.v_proj)
        found += link.modules(block.attention.out, attention.o_proj)
        found += link.modules(block.attention_join.norm, layer.self_attn_layer_norm)
        found += link.modules(block.feedforward.up, layer.mlp.fc1) + link.modules(block.feedforward.down, layer.mlp.fc2)
        found += link.modules(block.feedforward_join.norm, layer.final_layer_norm)
        if block.cross is not None:
            across = layer.encoder_attn
            found += link.cross_projections(block.cross, across.q_proj, across.k_proj, across.v_proj)
            found += link.modules(block.cross.out, across.o_proj)
            found += link.modules(block.cross_join.norm, layer.encoder_attn_layer_norm)
    return found


def some_things(count: int) -> list[tuple[Tensor, Tensor]]:
    """Of each picture, the last of which is empty."""
    every = []
    for row in range(count):
        first, size = torch.rand(row * 2, 2) * 0.5, torch.rand(row * 2, 2) * 0.4 + 0.05
        every.append((torch.randint(0, LABELS, (row * 2,)), centred(torch.cat([first, first + size], -1))))
    return every[::-1]


def test_outputs_and_weights_equal_theirs_in_pictures_of_any_shape() -> None:
    theirs, ours = theirs_and_ours()
    for height, width in ((64, 64), (64, 96)):
        pictures = torch.randn(2, 3, height, width)
        with torch.no_grad(), regard.watch(ours) as seen:
            expected = theirs(pictures, output_attentions=True)
            logits, boxes = ours.read(ours(pictures))
        torch.testing.assert_close(logits, expected.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(boxes, expected.pred_boxes, rtol=1e-4, atol=1e-4)
        for layer in range(LAYERS):
            for name, weights in (
                (f"encoder.{layer}.self", expected.encoder_attentions),
                (f"decoder.{layer}.self", expected.decoder_attentions),
                (f"decoder.{layer}.cross", expected.cross_attentions),
            ):
                torch.testing.assert_close(seen.last(name), weights[layer], rtol=1e-4, atol=1e-5)


def test_matching_loss_and_gradients_equal_theirs() -> None:
    """Theirs feeds the norm that an auxiliary answer needs into the next layer; the paper's own code does not. So their
    layers run as they are, and what their loss is given is made of the layers' outputs."""
    theirs, ours = theirs_and_ours()
    theirs.requires_grad_(True)  # as published, some of the backbone is frozen
    pictures, every = torch.randn(3, 3, 64, 64), some_things(3)
    things = Things.of([(classes.tolist(), boxes.numpy()) for classes, boxes in every])
    labels = [{"class_labels": classes, "boxes": boxes} for classes, boxes in every]

    layers: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda *call: layers.append(call[-1])) for layer in theirs.model.decoder.layers
    ]
    theirs(pictures)
    for hook in hooks:
        hook.remove()
    states = torch.stack([theirs.model.decoder.layernorm(layer) for layer in layers])
    logits, boxes = theirs.class_labels_classifier(states), theirs.bbox_predictor(states).sigmoid()
    theirs.config.auxiliary_loss = True
    expected, _, _ = ForObjectDetectionLoss(logits[-1], labels, "cpu", boxes[-1], theirs.config, logits, boxes)

    loss = ours(pictures, things=things)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)
    matcher = HungarianMatcher(class_cost=1, bbox_cost=5, giou_cost=2)
    matched = ours.matching.match(logits, boxes, things)
    for layer in range(LAYERS):
        pairs = matcher({"logits": logits[layer], "pred_boxes": boxes[layer]}, labels)
        for row, (queries, which) in enumerate(pairs):
            assert matched.predictions[layer, row, which].tolist() == queries.tolist()

    expected.backward()
    loss.backward()
    assert_gradients_equal(links(ours, theirs))
    for name, one in theirs.model.backbone.model.named_parameters():
        mine = ours.reader.backbone.get_parameter(of_resnet(name))
        torch.testing.assert_close(mine.grad, one.grad, rtol=1e-3, atol=1e-4)
