"""Contestants are of equal size, or the experiment says that it cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regard.config import ConfigError
from regard.lab.bottleneck import Bottleneck
from regard.lab.sizes import SIZE_TOLERANCE, matched, parameters
from regard.models import Recurrent
from regard.zoo import build, get


def test_parameters_are_counted_without_making_the_model() -> None:
    config = get("transformer-tiny", vocabulary=300, layers=1)
    assert parameters(config) == sum(parameter.numel() for parameter in build(config).parameters())


@pytest.mark.parametrize("vocabulary", [300, 6000])
def test_the_contestants_of_the_bottleneck_have_equally_many_parameters(vocabulary: int) -> None:
    sizes = [parameters(config) for config in Bottleneck().contestants(vocabulary).values()]
    assert max(sizes) / min(sizes) - 1 < SIZE_TOLERANCE
    assert len(sizes) == 3


def test_the_nearest_size_is_found_and_none_that_is_far_off() -> None:
    config = Recurrent(vocabulary=50, width=16)
    wanted = parameters(replace(config, hidden=40))
    assert matched(lambda hidden: replace(config, hidden=hidden), wanted + 3) == replace(config, hidden=40)
    with pytest.raises(ConfigError, match="the nearest has"):
        matched(lambda hidden: replace(config, hidden=hidden), 100)
    with pytest.raises(ConfigError, match="there is none"):
        matched(lambda hidden: replace(config, hidden=8), wanted)
