"""Initialisation by depth: what counts is how often layers write to the residual stream."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from regard.models import Decoder, DecoderModel
from regard.nn.init import Normal
from regard.nn.linear import Linear
from regard.nn.stacks import Shared, Stack

LAYERS = 16


@dataclass(frozen=True, kw_only=True)
class Repeated(Decoder):
    """One block that is all layers, under the names of all of them."""

    def assemble(self) -> DecoderModel:
        model = super().assemble()
        model.decoder.blocks = nn.ModuleList([model.decoder.blocks[0]] * self.decoder.layers)
        return model


@pytest.mark.parametrize("stack", [Stack, Shared])
@pytest.mark.parametrize("kind", [Decoder, Repeated])
def test_what_writes_to_the_residual_stream_is_divided_by_the_root_of_how_often_that_is_done(
    kind: type[Decoder], stack: type[Stack]
) -> None:
    if kind is Repeated and stack is Shared:
        pytest.skip("either of them makes one block all layers")
    config = kind(vocabulary=40, width=64, decoder=stack(layers=LAYERS), init=Normal(std=0.02, by_depth=True))
    model = config.build()
    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, Linear)}
    assert len(layers) == 4 * len(set(model.decoder.blocks))
    for layer in layers.values():
        expected = 0.02 / (2 * LAYERS) ** 0.5 if layer.residual else 0.02
        assert layer.weight.std().item() == pytest.approx(expected, rel=0.1)


def test_a_layer_that_is_initialised_again_keeps_the_deviation_of_its_model() -> None:
    config = Decoder(vocabulary=40, width=64, decoder=Stack(layers=LAYERS), init=Normal(std=0.02, by_depth=True))
    model = config.build()
    layer = model.decoder.blocks[3].feedforward.down
    before = layer.weight.clone()
    layer.reset_parameters()
    assert not torch.equal(layer.weight, before)
    assert layer.weight.std().item() == pytest.approx(0.02 / (2 * LAYERS) ** 0.5, rel=0.1)


def test_a_shared_block_that_starts_at_zero_is_known_by_its_applications() -> None:
    config = Decoder(vocabulary=40, width=64, decoder=Shared(layers=LAYERS), init=Normal(zero_outputs=True))
    assert config.build().decoder.blocks[0].attention.out.weight.eq(0).all()


def test_a_truncated_normal_ends_at_two_deviations_and_is_drawn_up_to_there() -> None:
    """arXiv:1810.04805: BERT's initialisation."""
    weight = torch.empty(400, 400)
    Normal(std=0.02, truncated=True).matrix(weight, 1)
    assert weight.abs().max() <= 0.04
    assert weight.abs().max().item() == pytest.approx(0.04, rel=0.01)
    assert weight.std().item() == pytest.approx(0.02 * 0.8796, rel=0.01)  # of a normal without its tails beyond 2
