"""Texts packed into one window are learnt from as if each stood alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.models import DecoderModel
from regard.nn.call.masks import Mask, places_in
from regard.nn.positions import Learned, PositionConfig, Rotary
from regard.tasks.language.scoring import kept_apart, measure, shifted
from tests.helpers import VOCABULARY, decoder

START, END = 1, 2
LENGTHS = (5, 1, 7)


def texts() -> list[Tensor]:
    return [torch.randint(3, VOCABULARY, (length,)) for length in LENGTHS]


def model(position: PositionConfig) -> DecoderModel:
    built = decoder(position=position).build().double()
    assert isinstance(built, DecoderModel)
    return built


def gradients(some: DecoderModel) -> list[Tensor]:
    found = [parameter.grad.clone() for parameter in some.parameters() if parameter.grad is not None]
    some.zero_grad()
    return found


@pytest.mark.parametrize("position", [Learned(length=64), Rotary()], ids=["learned", "rotary"])
def test_a_window_of_several_texts_equals_each_alone_in_loss_and_gradients(position: PositionConfig) -> None:
    some, found = model(position), texts()
    end, start = torch.tensor([END]), torch.tensor([START])
    stream = torch.cat([torch.cat([text, end]) for text in found])
    read, targets = shifted(stream[None].numpy(), START, torch.device("cpu"))
    mask = kept_apart(read, targets, START, END)
    assert mask is not None
    together = some.head.total_loss(some.features(read, mask=mask), targets)
    together.backward()
    packed = gradients(some)
    alone = torch.zeros((), dtype=torch.float64)
    for text in found:
        hidden = some.features(torch.cat([start, text])[None])
        alone = alone + some.head.total_loss(hidden, torch.cat([text, end])[None])
    alone.backward()
    torch.testing.assert_close(together, alone)
    for one, other in zip(packed, gradients(some), strict=True):
        torch.testing.assert_close(one, other)
    mixed = some.head.total_loss(some.features(read), targets)
    assert abs((mixed - alone).item()) > 1e-3  # without the mask texts do see each other


@pytest.mark.parametrize("context", [4, 6, 32])
def test_texts_are_judged_as_they_were_learnt_apart(context: int) -> None:
    some, found = model(Learned(length=64)), texts()
    stream = torch.cat([torch.cat([text, torch.tensor([END])]) for text in found]).numpy()
    begins = [0, *(int(place) + 1 for place in (stream == END).nonzero()[0])]
    stride, nats = context // 2, 0.0
    for place, token in enumerate(stream.tolist()):
        window = 0 if place < context else (place - context) // stride + 1  # the first that has it as one to score
        first = max(window * stride, *(begin for begin in begins if begin <= place))
        with torch.no_grad():
            logits = some(torch.tensor([[START, *stream[first:place].tolist()]]))[0, -1]
        nats -= float(logits.log_softmax(-1)[token])
    assert measure(some, stream, 10, context, START, END).nats == pytest.approx(nats)


def test_a_window_of_one_text_needs_no_mask() -> None:
    read, targets = shifted(torch.tensor([[5, 6, 7, END]]).numpy(), START, torch.device("cpu"))
    assert kept_apart(read, targets, START, END) is None


def test_positions_begin_anew_in_each_text() -> None:
    documents = torch.tensor([[0, 0, 0, 1, 1, 2], [0, 1, 2, 2, 2, 2], [7, 7, 0, 0, 3, 1]])  # whatever their numbers
    assert places_in(documents).tolist() == [[0, 1, 2, 0, 1, 0], [0, 0, 0, 1, 2, 3], [0, 1, 0, 1, 0, 0]]


def test_documents_and_padding_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="documents or padding"):
        Mask(keys=torch.ones(1, 2, dtype=torch.bool), documents=torch.zeros(1, 2))
