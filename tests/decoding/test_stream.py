"""Writing on one token at a time: the tokens of `complete`, with their probabilities, beyond the context too."""

from __future__ import annotations

import math

import pytest
import torch

from regard.decoding import Decoding, complete
from regard.decoding.stream import write_on
from regard.models import LSTMN, RecurrentDecoder, TextWriterConfig
from tests.decoding.reference import END, START, ending
from tests.helpers import VOCABULARY, decoder

MODELS: dict[str, TextWriterConfig] = {
    "decoder": decoder(),
    "recurrent": RecurrentDecoder(vocabulary=VOCABULARY, width=16, hidden=12),
    "lstmn": LSTMN(vocabulary=VOCABULARY, width=16, hidden=12),
}
SEARCHES = {
    "greedy": Decoding(max_length=20),
    "drawn": Decoding(sample=True, temperature=0.9, top_k=12, seed=4, max_length=20),
    "no repeats": Decoding(no_repeat=2, max_length=20),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_a_stream_is_what_is_completed_at_once(config: TextWriterConfig, search: Decoding) -> None:
    model = ending(config, bias=1.0)
    prompt = [START, 5, 9, 7]
    whole = complete(model, torch.tensor([prompt]), None, search, END)[0][0]
    found = list(write_on(model, prompt, search, END, 20))
    assert [one.token for one in found] == [*whole.tokens, *([END] if whole.finished else [])]
    assert sum(math.log(one.probability) for one in found) == pytest.approx(whole.log_prob)


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_a_window_moves_on_with_the_later_half_in_sight(config: TextWriterConfig) -> None:
    model = ending(config, bias=-9.0)
    found = [one.token for one in write_on(model, [START, 5], Decoding(), END, 30, window=8)]
    assert len(found) == 30
    text, sight = [5], [START, 5]
    for token in found:
        if len(sight) > 8:
            sight = [START, *text[-4:]]
        with torch.no_grad():
            assert token == int(model(torch.tensor([sight]))[0, -1].argmax())
        text.append(token)
        sight.append(token)


def test_without_a_window_it_stops_where_the_model_reads_no_more() -> None:
    model = ending(decoder(), bias=-9.0)
    assert model.longest == 64
    assert len(list(write_on(model, [START] * 60, Decoding(), END, 30))) == 5
