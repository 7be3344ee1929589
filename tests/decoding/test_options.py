"""Options that do not fit together are refused with the values."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.config import from_json, to_json
from regard.decoding import Decoding, decode, translate
from tests.decoding.reference import END, START
from tests.helpers import built, decoder, encoder_decoder, tokens


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"beam": 0}, r"Decoding\.beam: 0 is not allowed"),
        ({"beam": 4, "sample": True}, "sample with a beam of 4"),
        ({"beam": 2, "nbest": 3}, "nbest 3 is more than the beam of 2"),
        ({"min_length": 5, "max_length": 4}, "min_length 5 is more than max_length 4"),
        ({"temperature": 0.0, "sample": True}, r"Decoding\.temperature: 0\.0 is not allowed"),
        ({"top_p": 1.5, "sample": True}, r"Decoding\.top_p: 1\.5 is not allowed"),
        ({"top_k": 5}, "top_k 5.*but sample is false"),
        ({"min_p": 0.1}, r"min_p 0\.1.*but sample is false"),
        ({"min_p": 1.5, "sample": True}, r"Decoding\.min_p: 1\.5 is not allowed"),
        ({"repetition_penalty": 0.0}, r"Decoding\.repetition_penalty: 0\.0 is not allowed"),
        ({"repetition_penalty": 1.2, "beam": 4}, r"repetition_penalty 1\.2 with a beam of 4"),
        ({"no_repeat": -1}, r"Decoding\.no_repeat: -1 is not allowed"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Decoding(**given)


def test_options_come_back_from_json() -> None:
    options = Decoding(beam=5, nbest=2, length_penalty=0.6, max_length=80)
    assert from_json(Decoding, to_json(options)) == options


def test_more_samples_than_beams_are_allowed() -> None:
    assert Decoding(sample=True, nbest=7).nbest == 7


def test_an_impossible_call_is_refused() -> None:
    model, source = built(encoder_decoder()), tokens(2, 5)
    with pytest.raises(ValueError, match="the end token 40 is not in the vocabulary of 40"):
        translate(model, source, None, Decoding(), START, 40)
    with pytest.raises(ValueError, match="40 words do not give 45 tokens of which no 2 in a row come twice"):
        translate(model, source, None, Decoding(no_repeat=2, min_length=45), START, END)
    with pytest.raises(ValueError, match="a limit of 0 tokens"):
        decode(model, model.begin(model.encode(source)), START, END, Decoding(), torch.tensor([3, 0]))
    language = built(decoder())
    with pytest.raises(ValueError, match="the start token 1 does not say how many rows"):
        decode(language, language.begin(), START, END, Decoding(), 5)
