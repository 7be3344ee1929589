"""Pictures of positions: what is drawn follows from the scheme's own seam."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.look.positions import picture, schemes
from regard.look.records import PositionPicture
from regard.nn.positions import sinusoids
from regard.nn.positions.distance import alibi_slopes


@pytest.mark.parametrize("kind", schemes())
def test_every_scheme_has_a_picture(kind: str) -> None:
    found = picture(kind, 12, 16, 4)
    assert found.about
    assert found.arrays["products"].shape[1:] == (12, 12)
    assert np.isfinite(found.arrays["products"]).all()
    assert (found.image is not None) == ("image" in found.arrays)
    back = PositionPicture.from_bytes(found.to_bytes())
    assert back.plain() == found.plain()


def test_the_image_of_sinusoids_is_their_formula() -> None:
    found = picture("sinusoidal", 12, 16)
    expected = sinusoids(torch.arange(12), 16).numpy()
    np.testing.assert_allclose(found.arrays["image"], expected, atol=1e-6)
    np.testing.assert_allclose(found.arrays["products"][0], expected @ expected.T, atol=1e-4)


@pytest.mark.parametrize("kind", ["rotary", "alibi", "t5", "relative", "sinusoidal"])
def test_only_distance_counts(kind: str) -> None:
    products = picture(kind, 12, 16, 4).arrays["products"]
    for offset in range(-11, 12):
        diagonal = np.diagonal(products, offset, 1, 2)
        np.testing.assert_allclose(diagonal, diagonal[:, :1].repeat(diagonal.shape[1], 1), atol=1e-4)


def test_alibi_takes_its_slope_off_for_each_step() -> None:
    products = picture("alibi", 12, 16, 4).arrays["products"]
    np.testing.assert_allclose(products[:, 0, 5], [-5 * slope for slope in alibi_slopes(4)], rtol=1e-6)


def test_without_positions_all_places_are_alike() -> None:
    assert not picture("none", 12, 16).arrays["products"].any()


def test_pictures_leave_the_random_numbers_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    picture("learned", 4, 8)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(("kind", "length", "match"), [("sinus", 4, "did you mean"), ("alibi", 0, "length 0 is not")])
def test_what_cannot_be_drawn_is_said(kind: str, length: int, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        picture(kind, length)
