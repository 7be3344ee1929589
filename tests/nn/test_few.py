"""A few rows through a large matrix: other ways, the same products."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F

from regard.nn.few import MANY, in_parts, linear
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
    assert not in_parts(x, weight)  # gradients may be wanted
    with torch.no_grad():
        assert in_parts(x, weight) == torch.backends.mkl.is_available()
        assert not in_parts(x.double(), weight.double())
        assert not in_parts(x, weight.t().contiguous().t())
        with torch.autocast("cpu", torch.bfloat16):
            assert not in_parts(x, weight)
            assert linear(x, weight, None).dtype == torch.bfloat16


def test_gradients_flow_as_before() -> None:
    layer = Linear(256, 512)
    torch.nn.init.normal_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    layer(torch.randn(2, 256)).sum().backward()
    assert layer.weight.grad is not None
