"""What was read before: found by how a prompt begins, and never more of it than is allowed."""

from __future__ import annotations

import pytest
import torch

from regard.decoding.prefixes import Prefixes, size
from regard.models import RecurrentDecoder
from tests.decoding.reference import ending
from tests.helpers import VOCABULARY, decoder


def filled(prefixes: Prefixes, *texts: list[int]) -> None:
    for text in texts:
        state = prefixes.model.begin()
        prefixes.model.step(torch.tensor([text]), state)
        prefixes.keep(text, state)


@pytest.mark.parametrize("config", [decoder(), RecurrentDecoder(vocabulary=VOCABULARY, width=16, hidden=12)])
def test_a_prompt_goes_on_as_if_all_of_it_had_been_read_at_once(config: object) -> None:
    model = ending(config)  # type: ignore[arg-type]
    prefixes = Prefixes(model)
    filled(prefixes, [1, 5, 6, 7], [1, 5, 6, 7, 8, 9], [1, 4, 4, 4])
    text = [1, 5, 6, 7, 8, 9, 10, 11]
    for _ in range(2):  # what is given is a copy
        begun = prefixes.find(text)
        assert begun is not None
        assert begun.length == 6
        found = model.step(torch.tensor([text[6:]]), begun.state)
        torch.testing.assert_close(found, model(torch.tensor([text]))[:, -1])
    assert prefixes.find([3, 5, 6, 7, 8]) is None


def test_keys_and_values_are_cut_to_what_is_alike_and_the_last_token_is_left() -> None:
    prefixes = Prefixes(ending(decoder()))
    filled(prefixes, [1, 5, 6, 7, 8, 9])
    assert prefixes.find([1, 5, 6, 7, 4, 4]).length == 4  # type: ignore[union-attr]
    assert prefixes.find([1, 5, 6, 7, 8, 9]).length == 5  # type: ignore[union-attr]
    assert prefixes.find([1, 5, 6, 4]) is None  # not worth it
    filled(prefixes, [1, 5, 6, 7, 8, 9, 10])
    assert list(prefixes.states) == [(1, 5, 6, 7, 8, 9, 10)]  # which contains the other


def test_only_the_latest_are_kept_within_the_bounds() -> None:
    model = ending(decoder())
    few = Prefixes(model, many=2)
    filled(few, [1, 4, 4, 4, 4], [1, 5, 5, 5, 5])
    assert few.find([1, 4, 4, 4, 4, 9]) is not None
    filled(few, [1, 6, 6, 6, 6])
    assert [text[1] for text in few.states] == [4, 6]  # 5 was used longest ago
    bytes_of_five = size(few.states[1, 6, 6, 6, 6])
    small = Prefixes(model, most=2 * bytes_of_five)
    filled(small, [1, 4, 4, 4, 4], [1, 5, 5, 5, 5], [1, 6, 6, 6, 6], [1, *[7] * 40])
    assert [text[1] for text in small.states] == [5, 6]
