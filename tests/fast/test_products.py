"""A few rows through a large matrix: other ways, the same products as `F.linear`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F

from regard import build
from regard.fast import operators, pack, products, quicken
from regard.fast.int8 import quantise
from regard.fast.layers import ONEDNN_NAMES, FastLinear, activated
from regard.fast.products import (
    MAX_ROWS_TO_SLICE,
    MIN_ROWS_TO_PACK,
    Packable,
    by_onednn,
    in_use,
    linear,
    suits_onednn,
    suits_slices,
)
from regard.nn.feedforward import ACTIVATIONS
from regard.nn.linear import Linear

SHAPES = [(256, 512), (512, 256), (128, 1003), (768, 96)]  # inputs, outputs; some do not come apart evenly


@pytest.fixture(params=[1, 2])
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 8, MAX_ROWS_TO_SLICE, MAX_ROWS_TO_SLICE + 1])
@pytest.mark.parametrize(("inputs", "outputs"), SHAPES)
@pytest.mark.parametrize("biased", [True, False])
def test_few_rows_give_the_product_of_many(rows: int, inputs: int, outputs: int, biased: bool) -> None:
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    bias = torch.randn(outputs) if biased else None
    with torch.no_grad():
        found = linear(x, weight, bias)
    torch.testing.assert_close(found, F.linear(x, weight, bias), atol=1e-4, rtol=1e-4)
    assert found.is_contiguous()


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_batches_of_sequences_and_views_are_taken_too(rows: int) -> None:
    layer = quicken(Linear(256, 768))
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(256, 1, rows).permute(2, 1, 0)  # values of one row lie apart
    with torch.no_grad():
        found = layer(x)
    assert found.shape == (rows, 1, 768)
    torch.testing.assert_close(found, F.linear(x, layer.weight, layer.bias), atol=1e-4, rtol=1e-4)


def test_what_learns_and_other_precisions_take_the_plain_product() -> None:
    x, weight = torch.randn(2, 256), torch.randn(512, 256)
    assert suits_slices(x, weight)
    assert not in_use(x, weight)  # gradients may be wanted
    with torch.no_grad():
        assert in_use(x, weight) == torch.backends.mkl.is_available()
        assert not in_use(x.double(), weight.double())
        assert not in_use(x, weight.t().contiguous().t())
        with torch.autocast("cpu", torch.bfloat16):
            assert not in_use(x, weight)
            assert linear(x, weight, None).dtype == torch.bfloat16


@pytest.fixture
def _other_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor for which MKL was not made; its product is the same on any."""
    if not torch.backends.mkldnn.is_available() or not torch.backends.mkl.is_available():
        pytest.skip("this build of torch has no oneDNN or no MKL")
    there = operators.Offer(mkl=True, onednn=True, packing=True, sums_in_32_bits=False)
    monkeypatch.setattr(operators, "offered", lambda: there)


@pytest.mark.usefixtures("_threads", "_other_maker")
@pytest.mark.parametrize("rows", [5, 64, 400])
@pytest.mark.parametrize("biased", [True, False])
def test_products_by_onednn_are_the_same(rows: int, biased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    weight = torch.randn(2304, 1000)
    x = torch.randn(1000, rows).t().view(rows, 1, 1000)  # values of one row lie apart
    bias = torch.randn(2304) if biased else None
    calls = []
    monkeypatch.setattr(products, "by_onednn", lambda *given: calls.append(given[3]) or by_onednn(*given))
    with torch.no_grad():
        found = linear(x, weight, bias)
    assert calls == [None]  # once, with the matrix as it lies
    assert found.shape == (rows, 1, 2304)
    torch.testing.assert_close(found, F.linear(x, weight, bias), atol=1e-3, rtol=1e-4)


@pytest.mark.usefixtures("_other_maker")
def test_onednn_is_asked_where_there_is_enough_to_do() -> None:
    large, small = torch.empty(768, 3072), torch.empty(256, 128)
    assert not suits_onednn(torch.empty(8, 3072), large)  # gradients may be wanted
    with torch.no_grad():
        assert suits_onednn(torch.empty(8, 3072), large)
        assert suits_onednn(torch.empty(2, 4, 3072), large)
        assert suits_onednn(torch.empty(3, 3072), large)
        assert not suits_onednn(torch.empty(2, 3072), large)  # its parts are quicker
        assert not suits_onednn(torch.empty(4, 768), torch.empty(3072, 768))
        assert not suits_onednn(torch.empty(8, 128), small)
        assert not suits_onednn(torch.empty(0, 3072), large)


@pytest.mark.usefixtures("_other_maker")
@pytest.mark.parametrize("name", [name for name, one in ACTIVATIONS.items() if one in ONEDNN_NAMES])
def test_an_activation_with_the_product_is_the_activation_of_it(name: str) -> None:
    layer, x = quicken(Linear(300, 1024)), torch.randn(64, 300)
    torch.nn.init.normal_(layer.weight, std=0.1)
    torch.nn.init.normal_(layer.bias)
    with torch.no_grad():
        found = activated(ACTIVATIONS[name], layer, x)
    torch.testing.assert_close(
        found, activated(ACTIVATIONS[name], layer, x), atol=1e-5, rtol=1e-5
    )  # it learns: the plain way


@pytest.fixture
def layer(_other_maker: None) -> FastLinear:
    layer = quicken(Linear(300, 1024)).eval()
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)
    return layer


def is_packed(layer: FastLinear, rows: int) -> bool:
    return layer.packed is not None and suits_onednn(torch.empty(rows, 300), layer.weight, layer.packed)


@torch.no_grad()
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 2), (40,), (2, 3, 100)])
def test_products_with_a_packed_matrix_are_the_same(layer: FastLinear, shape: tuple[int, ...]) -> None:
    x = torch.randn(300, *shape).movedim(0, -1)  # values of one row lie apart
    plain = [layer(x), activated(ACTIVATIONS["gelu"], layer, x)]
    pack(layer)
    assert is_packed(layer, x[..., 0].numel()) == (x[..., 0].numel() >= MIN_ROWS_TO_PACK)
    torch.testing.assert_close([layer(x), activated(ACTIVATIONS["gelu"], layer, x)], plain, atol=1e-3, rtol=1e-4)


@torch.no_grad()
def test_a_packed_matrix_follows_the_weights(layer: FastLinear) -> None:
    x = torch.randn(8, 300)
    pack(layer)
    first = layer.packed
    pack(layer)
    assert layer.packed is first  # nothing to do
    layer.weight.mul_(2)
    assert not is_packed(layer, 8)
    torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-3, rtol=1e-4)
    pack(layer)
    assert is_packed(layer, 8)
    torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-3, rtol=1e-4)
    layer.train()
    assert layer.packed is None


VERSION = 9  # the changes of a weight, as PyTorch counts them, when it is packed


def changed(layer: FastLinear) -> FastLinear:
    """So often that its weight looks like the one that was packed."""
    assert layer.weight._version <= VERSION
    while layer.weight._version < VERSION:
        layer.weight.mul_(1.1)
    return layer


def replaced(layer: FastLinear) -> FastLinear:
    layer.load_state_dict({name: torch.randn_like(value) for name, value in layer.state_dict().items()}, assign=True)
    return layer


def emptied(layer: FastLinear) -> FastLinear:
    layer.to("meta").to_empty(device="cpu").reset_parameters()
    return layer


CHANGES: dict[str, Callable[[FastLinear], FastLinear]] = {
    "another precision and back": lambda layer: layer.bfloat16().float(),
    "memory that was empty": emptied,
    "another parameter": replaced,
    "a copy": copy.deepcopy,
}


@torch.no_grad()
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_packed_matrix_is_not_used_for_other_weights(
    layer: FastLinear, change: Callable[[FastLinear], FastLinear]
) -> None:
    x = torch.randn(8, 300)
    pack(changed(layer))
    assert is_packed(layer, 8)
    layer = changed(change(layer))
    torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-3, rtol=1e-4)


def test_what_is_packed_can_learn(layer: FastLinear) -> None:
    with torch.inference_mode():
        pack(layer)
    layer(torch.randn(8, 300)).sum().backward()
    assert layer.weight.grad is not None


def test_a_large_model_is_in_memory_once(layer: FastLinear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "MAX_VALUES_TO_PACK", 2 * layer.weight.numel() - 1)
    pack(torch.nn.ModuleList([layer, quicken(Linear(300, 1024))]))
    assert layer.packed is None
    pack(layer)
    assert layer.packed is not None


@pytest.mark.usefixtures("_other_maker")
def test_a_model_that_was_made_in_inference_mode_is_used_as_it_is() -> None:
    with torch.inference_mode():
        layer = quicken(Linear(300, 1024))
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.ones_(layer.bias)
        pack(layer)
        assert layer.packed is None
        assert layer(torch.ones(8, 300)).unique().tolist() == [1.0]


@pytest.mark.usefixtures("_other_maker")
def test_bytes_are_not_packed() -> None:
    model = quantise(build("gpt2", vocabulary=2000, layers=1, width=256, heads=4, hidden=256).eval())
    pack(model)
    assert all(part.packed is None for part in model.modules() if isinstance(part, Packable))


@pytest.mark.parametrize("vendor", ["vendor_id\t: AuthenticAMD\n", "vendor_id\t: GenuineIntel\n", ""])
def test_the_maker_of_the_processor_decides(monkeypatch: pytest.MonkeyPatch, vendor: str) -> None:
    monkeypatch.setattr(operators, "processor", lambda: vendor)
    asked = operators.offered.__wrapped__()
    assert asked.onednn == (
        "AMD" in vendor and torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    )


def test_gradients_flow_as_before() -> None:
    layer = quicken(Linear(256, 512))
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    layer(torch.randn(2, 256)).sum().backward()
    assert layer.weight.grad is not None
