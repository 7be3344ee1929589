"""Models that are made ready for use."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext

import pytest
import torch

from regard import build
from regard.fast import for_use, operators
from regard.fast.device import MIN_VALUES_FOR_BF16, autocast, multiplied
from regard.fast.operators import cpu_has_bf16
from tests.helpers import PRESETS, built, encoder_decoder, tokens


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


def test_a_model_multiplies_by_its_matrices_and_by_the_table_that_is_its_head() -> None:
    width, words = 32, 50
    one = build("gpt2", vocabulary=words, layers=1, width=width, heads=2, hidden=64, length=16)
    matrices = width * 3 * width + width * width + 2 * width * 64
    assert multiplied(one) == matrices + words * width  # not the table of positions


@pytest.mark.parametrize("units", [True, False])
def test_bf16_is_taken_by_itself_only_where_large_products_gain(monkeypatch: pytest.MonkeyPatch, units: bool) -> None:
    monkeypatch.setattr(operators, "cpu_has_bf16", lambda: units)
    small, large = PRESETS["gpt2"].build(), build("gpt2", vocabulary=8000, layers=2, width=128, heads=2, hidden=256)
    assert multiplied(small) < MIN_VALUES_FOR_BF16 < multiplied(large)
    assert isinstance(autocast(small, "auto"), nullcontext)
    assert isinstance(autocast(large, "auto"), torch.autocast if units else nullcontext)
    assert isinstance(autocast(large, "fp32"), nullcontext)
    assert isinstance(autocast(small, "bf16"), torch.autocast)


def test_units_that_end_the_process_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    monkeypatch.setattr(torch, "ones", lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL))
    cpu_has_bf16.cache_clear()
    try:
        assert not cpu_has_bf16()
    finally:
        cpu_has_bf16.cache_clear()
