"""Matrices as bytes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.config import change
from regard.decoding import Decoding, complete
from regard.fast.int8 import Int8Linear, quantise
from regard.nn.linear import Linear
from tests.helpers import built, decoder, encoder_decoder, tokens


def test_a_matrix_of_bytes_is_nearly_the_matrix() -> None:
    weight, bias, x = torch.randn(40, 64), torch.randn(40), torch.randn(3, 5, 64)
    weight[7] *= 100  # a scale for each output: a large one costs the others nothing
    exact = torch.nn.functional.linear(x, weight, bias)
    found = Int8Linear(weight, bias)(x)
    assert found.shape == exact.shape
    error = (found - exact).norm(dim=(0, 1)) / exact.norm(dim=(0, 1))
    assert error.max() < 0.03


def test_an_output_of_zeros_stays_zero() -> None:
    assert Int8Linear(torch.zeros(4, 8), None)(torch.randn(2, 8)).abs().max() == 0


@pytest.mark.parametrize("name", ["decoder", "encoder-decoder"])
def test_a_model_of_bytes_says_nearly_the_same(name: str) -> None:
    model: Any = built(decoder() if name == "decoder" else encoder_decoder()).float().eval()
    rows = (tokens(3, 9),) if name == "decoder" else (tokens(3, 9), tokens(3, 6))
    with torch.no_grad():
        exact = model(*rows)
        small = quantise(model)
        assert not any(isinstance(layer, Linear) for layer in small.modules())
        found = small(*rows)
    assert not torch.equal(found, exact)
    assert (found - exact).norm() / exact.norm() < 0.1


def test_it_writes_with_a_cache_what_it_writes_without() -> None:
    model: Any = quantise(built(decoder()).float().eval())
    prompt = tokens(2, 5)
    written = complete(model, prompt, None, Decoding(max_length=6, min_length=6), end=2)
    for row, (found,) in zip(prompt, written, strict=True):
        said = row.tolist()
        for token in found.tokens:
            with torch.no_grad():
                logits = model(torch.tensor([said]))[0, -1]
            logits[2] = float("-inf")
            assert logits[token] > logits.max() - 0.05 * logits[logits.isfinite()].std()
            said.append(token)


def test_a_cap_on_the_logits_stays() -> None:
    model: Any = built(change(decoder(), {"head.cap": 0.5})).float().eval()
    with torch.no_grad():
        assert quantise(model)(tokens(2, 5)).abs().max() <= 0.5


def test_models_that_differ_in_a_matrix_alone_differ_in_a_parameter() -> None:
    one, other = Int8Linear(torch.ones(3, 4), None), Int8Linear(2 * torch.ones(3, 4), None)
    assert not torch.equal(one.scales, other.scales)
