"""What the wirings of our own compute."""

from __future__ import annotations

import torch

from regard.nn.norms import LayerNorm
from regard.nn.residual import LayerScale
from tests.helpers import whole


def test_each_value_of_what_a_sublayer_adds_has_a_factor_of_its_own() -> None:
    wiring, x, added = LayerScale(start=0.25).build(3, LayerNorm()), torch.randn(2, 4, 3), torch.randn(2, 4, 3)
    normed = torch.nn.functional.layer_norm(x, (3,))
    torch.testing.assert_close(wiring(x, lambda given, context: given + added, whole(2, 4)), x + (normed + added) / 4)
    with torch.no_grad():
        wiring.scale.copy_(torch.tensor([1.0, 0.0, -2.0]))
    found = wiring(x, lambda given, context: added, whole(2, 4))
    torch.testing.assert_close(found, x + torch.stack([added[..., 0], 0 * added[..., 1], -2 * added[..., 2]], -1))
