"""Models that are made ready for use."""

from __future__ import annotations

import torch

from regard.nn.device import for_use
from tests.helpers import built, encoder_decoder, tokens


def test_a_model_in_use_is_the_same_model() -> None:
    model = built(encoder_decoder()).float().train()
    source, target = tokens(3, 7), tokens(3, 5)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with torch.no_grad():
        expected = model.eval()(source, target)
        used = for_use(model.train(), "cpu")
        torch.testing.assert_close(used(source, target), expected)
    assert not used.training
    for name, tensor in used.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_its_matrices_lie_input_by_input() -> None:
    model = for_use(built(encoder_decoder()), "cpu")
    assert model.decoder.blocks[0].feedforward.up.weight.t().is_contiguous()
