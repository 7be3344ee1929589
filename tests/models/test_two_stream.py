"""Two streams: predictions see what they may, and nobody sees the queries."""

from __future__ import annotations

import pytest
import torch

from regard.models import Encoder, EncoderModel, TwoStreamModel
from regard.nn.call.masks import real_tokens
from regard.zoo import get
from tests.helpers import SMALL, VOCABULARY, built, tokens

ORDER = torch.tensor([[3, 0, 4, 1, 5, 2]])  # the rank of each place
VISIBLE = ORDER.unsqueeze(1) < ORDER.unsqueeze(2)


def model(**changes: object) -> TwoStreamModel:
    found = built(get("xlnet-base", **SMALL, **changes))
    assert isinstance(found, TwoStreamModel)
    return found


@pytest.mark.parametrize("position", ["transformer-xl", "rotary", "learned", "relative", "alibi", "t5"])
@torch.no_grad()
def test_a_prediction_depends_on_what_comes_before_in_the_order_and_on_nothing_else(position: str) -> None:
    streams, text, places = model(position=position), tokens(1, 6), torch.arange(6).unsqueeze(0)
    before = streams.predict(text, VISIBLE, places)[0]
    for place in range(6):
        changed = text.clone()
        changed[0, place] = (changed[0, place] + 1) % VOCABULARY
        after = streams.predict(changed, VISIBLE, places)[0]
        moved = (after != before).any(-1)
        assert torch.equal(moved, ORDER[0] > ORDER[0, place])  # not even where it stands itself


@torch.no_grad()
def test_queries_change_no_other_and_rows_are_read_alone() -> None:
    streams, text = model(), tokens(2, 6)
    visible = VISIBLE.expand(2, -1, -1)
    both = streams.predict(text, visible, torch.tensor([[4, 0, 2], [2, 4, 0]]))
    one = streams.predict(text, visible, torch.tensor([[2], [2]]))
    torch.testing.assert_close(both[0, 2], one[0, 0])
    torch.testing.assert_close(both[1, 0], one[1, 0])


@torch.no_grad()
def test_what_is_hidden_is_expected_from_all_that_is_not() -> None:
    streams, text = model(), tokens(3, 8)
    keep = real_tokens(torch.tensor([8, 5, 6]), 8)
    hidden = torch.zeros_like(keep)
    hidden[0, [1, 5]] = hidden[1, 2] = True
    found = streams.expected(text, keep, hidden)
    changed = text.masked_fill(hidden, 1)
    torch.testing.assert_close(found, streams.expected(changed, keep, hidden))
    alone = streams.expected(text[1:2, :5], None, hidden[1:2, :5])
    torch.testing.assert_close(found[2:], alone, rtol=1e-4, atol=1e-5)


def test_inside_another_model_it_is_a_plain_encoder_with_the_same_states() -> None:
    streams, text = model(), tokens()
    config = streams.config.inside()  # type: ignore[attr-defined]
    assert type(config) is Encoder
    reader = config.build()
    assert isinstance(reader, EncoderModel)
    reader.load_state_dict(
        {name: weight for name, weight in streams.state_dict().items() if name != "query" and "head" not in name}
    )
    torch.testing.assert_close(reader.eval().encode(text).states, streams.encode(text).states)
