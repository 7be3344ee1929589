"""The facts of SYSTEMS.md, section 2, and each scheme against its paper's formula."""

from __future__ import annotations

import math

import pytest
import torch

from regard.fast import plain, quicken
from regard.nn.call.masks import Mask
from regard.nn.positions import (
    ALiBi,
    Buckets,
    Fraction,
    HeadDims,
    Learned,
    Order,
    Relative,
    Rotary,
    Sinusoidal,
    sinusoids,
)
from regard.nn.positions.distance import alibi_slopes, bucket_of
from tests.helpers import built, decoder, tokens, whole

DIMS = HeadDims(16, 2, 2, 8, 8)


def test_pe_0_and_pe_1_at_width_512() -> None:
    table = sinusoids(torch.arange(2), 512)
    assert table[0, :4].tolist() == [0, 1, 0, 1]
    start, end = table[1, :3], table[1, -2:]
    assert torch.allclose(start, torch.tensor([0.8414, 0.5403, 0.8218]).double(), atol=1e-4)
    assert torch.allclose(end, torch.tensor([0.0001, 0.9999]).double(), atol=1e-4)


def test_pe_at_width_4() -> None:
    for place in (0, 1, 7, 50):
        expected = [math.sin(place), math.cos(place), math.sin(place / 100), math.cos(place / 100)]
        assert sinusoids(torch.tensor(place), 4).tolist() == pytest.approx(expected)
        halves = [math.sin(place), math.sin(place / 100), math.cos(place), math.cos(place / 100)]
        assert sinusoids(torch.tensor(place), 4, "halves").tolist() == pytest.approx(halves)


@pytest.mark.parametrize("made", [plain, quicken])
def test_sinusoids_grow_with_what_they_are_asked_for(made) -> None:  # type: ignore[no-untyped-def]
    position = made(Sinusoidal().build(DIMS))
    x = torch.zeros(1, 300, 16)
    expected = sinusoids(torch.arange(300), 16).float()
    torch.testing.assert_close(position.embed(x, whole(1, 300))[0], expected)
    torch.testing.assert_close(position.embed(x[:, :5], whole(1, 5))[0], expected[:5])


@pytest.mark.parametrize("made", [plain, quicken])
def test_sinusoids_are_exact_again_after_another_precision_or_device(made) -> None:  # type: ignore[no-untyped-def]
    position, x = made(Sinusoidal().build(DIMS)), torch.zeros(1, 30, 16)
    expected = sinusoids(torch.arange(30), 16).float()
    for way in (lambda: position.bfloat16().float(), lambda: position.to("meta").to_empty(device="cpu")):
        position.embed(x, whole(1, 30))
        way()
        assert torch.equal(position.embed(x, whole(1, 30))[0], expected)
    assert position.embed(x.bfloat16(), whole(1, 30)).dtype == torch.bfloat16
    assert position.embed(x.double(), whole(1, 30)).equal(sinusoids(torch.arange(30), 16)[None])


@pytest.mark.parametrize("scheme", [Sinusoidal(join="concat", width=6), Learned(join="concat", width=6)])
def test_a_concatenated_position_takes_its_share_of_the_width(scheme) -> None:  # type: ignore[no-untyped-def]
    position = scheme.build(DIMS)
    assert position.taken == 6
    x = torch.randn(2, 5, 10)
    y = position.embed(x, whole(2, 5))
    assert y.shape == (2, 5, 16)
    assert torch.equal(y[..., :10], x)
    assert torch.equal(y[0, :, 10:], y[1, :, 10:])


def test_a_position_added_to_q_k_and_v_is_the_same_vector_in_each() -> None:
    position = Sinusoidal(join="qkv").build(DIMS)
    q, k, v = torch.zeros(3, 2, 2, 5, 8)
    placed = position.place(q, k, v, whole(2, 5))
    for tensor in placed:
        torch.testing.assert_close(tensor[1, 1], sinusoids(torch.arange(5), 8).float())
    x = torch.randn(2, 5, 16)
    assert torch.equal(position.embed(x, whole(2, 5)), x)


def test_a_longer_input_than_the_learned_table_is_an_error() -> None:
    model = built(decoder(position=Learned(length=8)))
    model(tokens(2, 8))
    with pytest.raises(ValueError, match="a sequence of 9 tokens is longer than the learned position table of 8"):
        model(tokens(2, 9))


def test_padding_does_not_count_as_length() -> None:
    model, sentence = built(decoder(position=Learned(length=8))), tokens(1, 6)
    padded = torch.cat([tokens(1, 5), sentence], dim=1)
    keep = torch.tensor([[False] * 5 + [True] * 6])
    torch.testing.assert_close(model(padded, keep)[keep], model(sentence)[0], rtol=1e-4, atol=1e-5)


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    for layout in ("halves", "interleaved"):
        position = Rotary(layout=layout).build(DIMS)
        q = torch.randn(1, 2, 1, 8).expand(-1, -1, 12, -1)
        k = torch.randn(1, 2, 1, 8).expand(-1, -1, 12, -1)
        turned_q, turned_k, v = position.place(q, k, k, whole(1, 12))
        scores = turned_q @ turned_k.transpose(-1, -2)
        assert v is k
        for distance in (0, 1, 5):
            band = scores.diagonal(distance, -2, -1)
            torch.testing.assert_close(band, band[..., :1].expand_as(band), rtol=1e-4, atol=1e-5)


def test_rotary_turns_a_pair_by_the_angle_of_its_place() -> None:
    position = Rotary(layout="interleaved").build(HeadDims(2, 1, 1, 2, 2))
    q = torch.tensor([1.0, 0.0]).expand(1, 1, 4, 2)
    turned, _, _ = position.place(q, q, q, whole(1, 4))
    expected = [[math.cos(place), math.sin(place)] for place in range(4)]
    torch.testing.assert_close(turned[0, 0], torch.tensor(expected))


def test_alibi_slopes_are_those_of_the_paper() -> None:
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(12)[:8] == alibi_slopes(8)
    assert alibi_slopes(12)[8:] == [2.0**-0.5, 2.0**-1.5, 2.0**-2.5, 2.0**-3.5]


def test_alibi_takes_slope_times_distance_off_the_scores() -> None:
    bias = ALiBi().build(DIMS).bias(torch.empty(1, 2, 4, 8), 1.0, whole(1, 4))
    assert bias is not None
    assert bias[1, 3].tolist() == [-3 * 2**-8, -2 * 2**-8, -1 * 2**-8, 0]


def test_t5_buckets_are_those_of_transformers() -> None:
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    distance = torch.arange(-300, 301)
    for two_sided in (True, False):
        for buckets, furthest in ((32, 128), (8, 20)):
            expected = t5.T5Attention._relative_position_bucket(distance, two_sided, buckets, furthest)
            assert torch.equal(bucket_of(distance, buckets, furthest, two_sided), expected)


def test_t5_bias_is_looked_up_by_bucket_and_shared_by_layers() -> None:
    model = built(decoder(position=Buckets(buckets=8, distance=20)))
    tables = [name for name, _ in model.named_parameters() if "positions" in name]
    assert tables == ["decoder.positions.0.table.weight"]


def test_relative_positions_add_a_key_and_a_value_vector_per_clipped_distance() -> None:
    """Shaw et al. 2018, equations 3 and 4, with a vector for every pair."""
    from regard.nn.attention import ScaledDot

    position = Relative(distance=2).build(DIMS)
    kernel = ScaledDot().build(DIMS, position, dropout=0.0)
    q, k, v = torch.randn(3, 2, 2, 6, 8)
    steps = (torch.arange(6)[None] - torch.arange(6)[:, None]).clamp(-2, 2) + 2  # j - i
    key_vectors, value_vectors = position.key_table[0][steps], position.value_table[0][steps]
    scores = torch.einsum("bhik,bhijk->bhij", q, k[:, :, None] + key_vectors) / 8**0.5
    weights = scores.softmax(-1)
    expected = torch.einsum("bhij,bhijk->bhik", weights, v[:, :, None] + value_vectors)
    torch.testing.assert_close(kernel.mix(q, k, v, whole(2, 6)), expected)


def test_relative_positions_are_each_layers_own_unless_tied() -> None:
    own, tied = (built(decoder(position=Relative(tied=tied))) for tied in (False, True))
    assert len(own.decoder.positions) == 2
    assert len(tied.decoder.positions) == 1


def test_an_order_number_grows_with_the_place_and_a_fraction_ends_at_one() -> None:
    for scheme, expected in ((Order(), [0.0, 1.0, 2.0, 3.0, 4.0]), (Fraction(), [0.0, 0.25, 0.5, 0.75, 1.0])):
        position = scheme.build(HeadDims(6, 1, 1, 6, 6))
        added = position.embed(torch.zeros(1, 5, 6), whole(1, 5))[0]
        torch.testing.assert_close(added, torch.tensor(expected)[:, None] * position.direction)


def test_a_fraction_is_of_each_row_and_of_a_fixed_length_where_the_end_is_not_known() -> None:
    keep = torch.tensor([[True, True, True, False, False], [True] * 5])
    position = Fraction(length=11).build(HeadDims(6, 1, 1, 6, 6))
    added = position.embed(torch.zeros(2, 5, 6), whole(2, 5, Mask(keys=keep)))
    torch.testing.assert_close(added[0, 2], position.direction)
    torch.testing.assert_close(added[1, 2], position.direction / 2)
    causal = Fraction(length=11).build(HeadDims(6, 1, 1, 6, 6, causal=True))
    torch.testing.assert_close(causal.embed(torch.zeros(1, 5, 6), whole(1, 5))[0, 4], causal.direction * 0.4)
    assert Fraction().build(HeadDims(6, 1, 1, 6, 6)).embed(torch.zeros(1, 1, 6), whole(1, 1)).abs().sum() == 0
