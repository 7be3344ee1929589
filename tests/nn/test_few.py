"""A few rows through a large matrix: other ways, the same products."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F

from regard.nn import few
from regard.nn.feedforward import ACTIVATIONS
from regard.nn.few import MANY, by_onednn, in_parts, in_use, linear, suits_onednn
from regard.nn.linear import Linear

SHAPES = [(256, 512), (512, 256), (128, 1003), (768, 96)]  # inputs, outputs; some do not come apart evenly


@pytest.fixture(params=[1, 2])
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 8, MANY, MANY + 1])
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
    layer = Linear(256, 768)
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(256, 1, rows).permute(2, 1, 0)  # values of one row lie apart
    with torch.no_grad():
        found = layer(x)
    assert found.shape == (rows, 1, 768)
    torch.testing.assert_close(found, F.linear(x, layer.weight, layer.bias), atol=1e-4, rtol=1e-4)


def test_what_learns_and_other_precisions_take_the_plain_product() -> None:
    x, weight = torch.randn(2, 256), torch.randn(512, 256)
    assert in_parts(x, weight)
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
    monkeypatch.setattr(few, "onednn_is_quicker", lambda: True)


@pytest.mark.usefixtures("_threads", "_other_maker")
@pytest.mark.parametrize("rows", [5, 64, 400])
@pytest.mark.parametrize("biased", [True, False])
def test_products_by_onednn_are_the_same(rows: int, biased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    weight = torch.randn(2304, 1000)
    x = torch.randn(1000, rows).t().view(rows, 1, 1000)  # values of one row lie apart
    bias = torch.randn(2304) if biased else None
    calls = []
    monkeypatch.setattr(few, "by_onednn", lambda *given: calls.append(len(given)) or by_onednn(*given))
    with torch.no_grad():
        found = linear(x, weight, bias)
    assert calls == [3]
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
@pytest.mark.parametrize("name", [name for name, one in ACTIVATIONS.items() if one.fused])
def test_an_activation_with_the_product_is_the_activation_of_it(name: str) -> None:
    layer, x = Linear(300, 1024), torch.randn(64, 300)
    torch.nn.init.normal_(layer.weight, std=0.1)
    torch.nn.init.normal_(layer.bias)
    with torch.no_grad():
        found = ACTIVATIONS[name].of(layer, x)
    torch.testing.assert_close(found, ACTIVATIONS[name].of(layer, x), atol=1e-5, rtol=1e-5)  # it learns: the plain way


@pytest.mark.parametrize("vendor", ["vendor_id\t: AuthenticAMD\n", "vendor_id\t: GenuineIntel\n", ""])
def test_the_maker_of_the_processor_decides(monkeypatch: pytest.MonkeyPatch, vendor: str) -> None:
    monkeypatch.setattr(few, "processor", lambda: vendor)
    asked = few.onednn_is_quicker.__wrapped__()
    assert asked == ("AMD" in vendor and torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available())


def test_gradients_flow_as_before() -> None:
    layer = Linear(256, 512)
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    layer(torch.randn(2, 256)).sum().backward()
    assert layer.weight.grad is not None
